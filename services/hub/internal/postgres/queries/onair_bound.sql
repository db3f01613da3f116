-- The newest stream that an operator has bound. $1 handle.
SELECT s.url
FROM streams s
WHERE s.handle = $1 AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = $1 AND p.withheld)
ORDER BY s.updated_at DESC, s.market_id
LIMIT 1
