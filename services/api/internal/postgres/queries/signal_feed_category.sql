-- The newest calls on markets of category $2, at most $1. They are looked for among
-- the newest calls of all first; a category that is rare there has few markets,
-- and each of them gives its own newest calls.
WITH near AS MATERIALIZED (
    SELECT s.id, s.created_at
    FROM (SELECT id, market_id, created_at FROM signals ORDER BY created_at DESC, id DESC LIMIT 2000) s
    JOIN markets m ON m.market_id = s.market_id
    WHERE m.category = $2
    ORDER BY s.created_at DESC, s.id DESC LIMIT $1
), far AS MATERIALIZED (
    SELECT n.id, n.created_at
    FROM markets m CROSS JOIN LATERAL (
        SELECT s.id, s.created_at FROM signals s WHERE s.market_id = m.market_id
        ORDER BY s.created_at DESC, s.id DESC LIMIT $1) n
    WHERE m.category = $2 AND m.category <> '' AND (SELECT count(*) FROM near) < $1
    ORDER BY n.created_at DESC, n.id DESC LIMIT $1
), top AS (
    SELECT id FROM near UNION SELECT id FROM far
)
SELECT v.id, v.public_id, v.provider_id, v.handle, v.display_name, v.tier, v.market_id, v.market_title, v.lane, v.yes, v.price_bps,
    v.crowd_yes_bps, v.confidence, v.text_take, v.source, v.ttr, v.created_at, v.status, v.score, v.resolved_at,
    v.outcome, v.close_price, v.clv_bps, v.scored_bps, v.price_verified, v.rated, v.counted, v.market_yes_bps, v.closes_at, v.quote_at,
    v.confirmed_at, v.reason, NULL::integer
FROM top JOIN signal_records v ON v.id = top.id
ORDER BY v.created_at DESC, v.id DESC LIMIT $1
