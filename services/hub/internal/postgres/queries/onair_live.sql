-- Operators who are live. $1 now, $2 the newest heartbeat that is too old, $3 limit.
SELECT s.id, s.handle, s.hls_url, s.viewers, s.started_at, coalesce(s.market_id, o.market_id), o.market_id, o.name, coalesce(p.status = 'approved', false)
FROM live_sessions s
LEFT JOIN shown_overlays o ON o.handle = s.handle AND o.market_id IS NOT NULL AND o.expires_at > $1
LEFT JOIN streamer_profiles p ON p.handle = s.handle
WHERE s.ended_at IS NULL AND s.hls_url IS NOT NULL AND s.last_beat > $2 AND p.withheld IS NOT TRUE
ORDER BY s.viewers DESC, s.started_at, s.handle
LIMIT $3
