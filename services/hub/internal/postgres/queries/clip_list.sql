-- The clips of a market that can be watched, the newest first. $1 market, $2 limit.
SELECT id, handle, url, thumbnail_url, duration_s, status, stance, views, boosted, created_by, created_at, ready_at
FROM clips
WHERE market_id = $1 AND status = 'ready'
ORDER BY created_at DESC, id DESC
LIMIT $2
