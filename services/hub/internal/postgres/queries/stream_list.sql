-- The streams of a market, the newest first. $1 market, $2 limit.
SELECT handle, url, label, updated_at
FROM streams
WHERE market_id = $1
ORDER BY updated_at DESC, handle
LIMIT $2
