-- Up to $5 calls of the operator $1 behind ($2, $3) and up to $4, oldest first, as they
-- stood then: what was claimed later is left out. The snapshot is the newest stored
-- price before the call from which its basis follows under a tolerance that held at the
-- call, or within five minutes before it, while processes are replaced. It is what the
-- filing looked at, or says the same; old ones are thinned, and then there may be none.
WITH rules AS MATERIALIZED (
    SELECT since, lead(since) OVER (ORDER BY since) AS until, bps FROM price_tolerances
)
SELECT r.id, r.public_id, r.handle, r.display_name, r.tier, r.market_id, r.market_title, r.lane, r.yes, r.price_bps,
    r.crowd_yes_bps, r.confidence, r.text_take, r.source, r.ttr, r.created_at, coalesce(x.status, 'pending'), x.score, x.resolved_at,
    x.outcome, x.close_price, x.clv_bps, r.score_basis_bps, s.price_verified, p.yes_bps, p.at,
    coalesce(x.scoring_version, ''), coalesce(x.scoring_vertical, ''),
    c.outcome, c.resolver, c.source, c.proof_url, c.close_at, c.close_price, c.resolved_at, coalesce(d.disputed, false)
FROM (
    SELECT id, market_id, price_verified, created_at FROM signals
    WHERE user_id = $1 AND (created_at, id) > ($2::timestamptz, $3::uuid) AND created_at <= $4::timestamptz
    ORDER BY created_at, id LIMIT $5
) s
JOIN signal_records r ON r.id = s.id
LEFT JOIN signal_results x ON x.signal_id = s.id AND x.resolved_at <= $4::timestamptz
LEFT JOIN market_resolutions c ON c.market_id = s.market_id AND c.resolved_at <= $4::timestamptz
LEFT JOIN market_disputes d ON d.market_id = s.market_id
LEFT JOIN LATERAL (
    SELECT q.yes_bps, q.at
    FROM (
        SELECT yes_bps, at FROM market_prices
        WHERE market_id = s.market_id AND at < s.created_at
            AND (at >= s.created_at - interval '15 minutes' OR s.market_id LIKE 'native-%')
        ORDER BY at DESC LIMIT 64
    ) q
    WHERE EXISTS (
        SELECT FROM rules t
        WHERE t.since <= s.created_at AND coalesce(t.until > s.created_at - interval '5 minutes', true)
            AND greatest(r.price_bps, CASE WHEN r.yes THEN q.yes_bps ELSE 10000 - q.yes_bps END - t.bps) = r.score_basis_bps
    )
    ORDER BY q.at DESC LIMIT 1
) p ON s.price_verified
ORDER BY s.created_at, s.id
