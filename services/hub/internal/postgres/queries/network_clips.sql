-- The clips that can be watched: boosted ones first, then the newest.
SELECT id, handle, url, market_id, duration_s, views, stance, created_at, boosted
FROM clips
WHERE status = 'ready'
ORDER BY boosted DESC, created_at DESC, id DESC
LIMIT $1
