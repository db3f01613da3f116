-- The streams of a market, the newest first, without those of withheld operators. $1 market,
-- $2 limit.
SELECT s.handle, s.url, s.label, s.updated_at
FROM streams s
WHERE s.market_id = $1 AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = s.handle AND p.withheld)
ORDER BY s.updated_at DESC, s.handle
LIMIT $2
