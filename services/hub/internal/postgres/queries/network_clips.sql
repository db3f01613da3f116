-- The clips that can be watched: boosted ones first, then the newest.
SELECT c.id, c.handle, c.url, c.market_id, c.duration_s, c.views, c.stance, c.created_at, c.boosted, coalesce(p.status = 'approved', false)
FROM clips c
LEFT JOIN streamer_profiles p ON p.handle = c.handle
WHERE c.status = 'ready' AND p.withheld IS NOT TRUE
ORDER BY c.boosted DESC, c.created_at DESC, c.id DESC
LIMIT $1
