-- Publishes the bound streams of an operator after a decision: bound, or unbound if the
-- operator is withheld. The rows stay. $1 handle, $2 now.
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT CASE WHEN p.withheld THEN 'stream.unbound' ELSE 'stream.bound' END, $2::timestamptz, s.market_id, s.handle, (
    jsonb_build_object('marketId', s.market_id, 'handle', s.handle) || CASE WHEN p.withheld THEN '{}' ELSE
    jsonb_build_object('url', s.url, 'label', s.label, 'updatedAt', stamp(s.updated_at), 'approved', p.status = 'approved') END)::text
FROM streams s
JOIN streamer_profiles p ON p.handle = s.handle
WHERE s.handle = $1
ORDER BY s.market_id
