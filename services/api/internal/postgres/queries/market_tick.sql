-- Prices that a stream told: $1 market, $2 when, $3 price. Each is kept where it
-- is newer than what is kept of an open market, and becomes a snapshot where the
-- last one is older than fifteen seconds. Rows are locked in the order of ids, as
-- all who write quotes do. It gives the number of newer prices.
WITH held AS MATERIALIZED (
    SELECT q.market_id, i.at, i.yes_bps
    FROM unnest($1::text[], $2::timestamptz[], $3::integer[]) AS i (market_id, at, yes_bps)
    JOIN market_quotes q ON q.market_id = i.market_id
    JOIN markets m ON m.market_id = i.market_id
    WHERE m.status = 'open' AND NOT m.provisional AND m.provider <> 'manual' AND q.at < i.at
    ORDER BY q.market_id
    FOR UPDATE OF q
), told AS (
    UPDATE market_quotes q SET yes_bps = h.yes_bps, at = h.at, answered_at = coalesce(q.answered_at, q.at)
    FROM held h
    WHERE q.market_id = h.market_id AND q.at < h.at
    RETURNING q.market_id, q.at, q.yes_bps
), kept AS (
    INSERT INTO market_prices (market_id, at, yes_bps)
    SELECT t.market_id, t.at, t.yes_bps FROM told t
    WHERE NOT EXISTS (SELECT FROM market_prices p WHERE p.market_id = t.market_id AND p.at > t.at - interval '15 seconds')
    ON CONFLICT (market_id, at) DO NOTHING
)
SELECT count(*) FROM told
