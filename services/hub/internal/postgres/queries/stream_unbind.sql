-- $1 market, $2 handle, $3 now.
WITH gone AS (
    DELETE FROM streams WHERE market_id = $1 AND handle = $2 RETURNING market_id
), told AS (
    INSERT INTO outbox (type, at, market_id, handle, data)
    SELECT 'stream.unbound', $3::timestamptz, $1, $2, jsonb_build_object('marketId', $1::text, 'handle', $2::text)::text FROM gone
)
SELECT count(*) FROM gone
