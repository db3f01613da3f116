-- The clips of a market that can be watched, the newest first. $1 market, $2 limit.
SELECT c.id, c.handle, c.url, c.thumbnail_url, c.duration_s, c.status, c.stance, c.views + coalesce(v.views, 0), c.boosted, c.created_by,
    c.created_at, c.ready_at, coalesce(c.title, '')
FROM clips c
LEFT JOIN tape_views v ON v.origin = 'hub' AND v.tape_id = c.id::text
WHERE c.market_id = $1 AND c.status = 'ready'
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = c.handle AND p.withheld)
ORDER BY c.created_at DESC, c.id DESC
LIMIT $2
