-- Stores an outcome once, with whether the market is rated now: as an administrator decided
-- ($14 who creates rated markets on Manifold, * all; $15 least volume of other venues in USD).
INSERT INTO market_resolutions (market_id, outcome, resolver, source, proof_url, reason, finalized_by, payout,
    close_at, close_price, lane, resolved_at, decided_at, rated)
SELECT m.market_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
    coalesce(m.rated_ruling, CASE m.provider
        WHEN 'manual' THEN m.created_by = 'admin'
        WHEN 'manifold' THEN m.creator = ANY ($14::text[]) OR '*' = ANY ($14::text[])
        ELSE coalesce(q.volume_usd, 0) >= $15::double precision END, false)
FROM markets m LEFT JOIN market_quotes q ON q.market_id = m.market_id
WHERE m.market_id = $1
ON CONFLICT (market_id) DO NOTHING
