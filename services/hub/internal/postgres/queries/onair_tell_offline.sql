-- Publishes that an operator is no longer live, with the session ($3 its end) or without. $1 session, $2 now.
INSERT INTO outbox (type, at, handle, data)
SELECT 'operator.offline', $2, s.handle, jsonb_build_object('handle', s.handle, 'endedAt', stamp($3),
    'durationS', greatest(0, floor(extract(epoch FROM $3::timestamptz - s.started_at)))::bigint, 'viewersPeak', s.viewers_peak,
    'signal', CASE WHEN s.signal_market IS NOT NULL THEN jsonb_build_object('marketId', s.signal_market, 'name', s.signal_name) END,
    'showId', s.id, 'startedAt', stamp(s.started_at),
    'approved', EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = s.handle AND p.status = 'approved'))::text
FROM live_sessions s
WHERE s.id = $1
