-- Publishes the bound streams of an operator after a decision: bound, or unbound if the
-- operator is suspended. The rows stay. $1 handle, $2 status, $3 now.
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT CASE WHEN $2::text = 'suspended' THEN 'stream.unbound' ELSE 'stream.bound' END, $3::timestamptz, market_id, handle, (
    jsonb_build_object('marketId', market_id, 'handle', handle) || CASE WHEN $2 = 'suspended' THEN '{}' ELSE
    jsonb_build_object('url', url, 'label', label, 'updatedAt', stamp(updated_at), 'approved', $2 = 'approved') END)::text
FROM streams WHERE handle = $1
ORDER BY market_id
