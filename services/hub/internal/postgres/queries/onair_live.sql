-- Who is on the air. $1 now, $2 the newest heartbeat that is too old, $3 limit.
SELECT s.id, s.handle, s.hls_url, s.viewers, s.started_at, coalesce(s.market_id, o.market_id), o.market_id, o.name
FROM live_sessions s
LEFT JOIN overlay_signals o ON o.handle = s.handle AND o.market_id IS NOT NULL AND o.expires_at > $1
WHERE s.ended_at IS NULL AND s.hls_url IS NOT NULL AND s.last_beat > $2
ORDER BY s.viewers DESC, s.started_at, s.handle
LIMIT $3
