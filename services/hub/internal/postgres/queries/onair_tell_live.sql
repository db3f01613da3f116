-- Publishes that an operator went live. $1 session, $2 now.
INSERT INTO outbox (type, at, handle, data)
SELECT 'operator.live', $2, s.handle, jsonb_build_object('handle', s.handle, 'hlsUrl', s.hls_url, 'viewers', s.viewers,
    'signal', CASE WHEN o.market_id IS NOT NULL THEN jsonb_build_object('marketId', o.market_id, 'name', o.name) END,
    'showId', s.id, 'startedAt', stamp(s.started_at),
    'approved', EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = s.handle AND p.status = 'approved'))::text
FROM live_sessions s
LEFT JOIN shown_overlays o ON o.handle = s.handle AND o.expires_at > $2::timestamptz
WHERE s.id = $1
