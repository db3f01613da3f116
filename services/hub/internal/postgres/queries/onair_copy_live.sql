-- What the channel of the live list begins with. $1 time of the copy, $2 now, $3 the newest
-- heartbeat that is too old, $4 the end that is too old, $5 how many live, $6 how many recent.
INSERT INTO outbox (type, at, topic, data)
SELECT 'snapshot', $1, 'live', jsonb_build_object('live', coalesce((
    SELECT jsonb_agg(jsonb_build_object('handle', s.handle, 'hlsUrl', s.hls_url, 'viewers', s.viewers,
        'signal', CASE WHEN o.market_id IS NOT NULL THEN jsonb_build_object('marketId', o.market_id, 'name', o.name) END,
        'showId', s.id, 'startedAt', stamp(s.started_at), 'approved', s.approved) ORDER BY s.viewers DESC, s.started_at, s.handle)
    FROM (
        SELECT l.*, coalesce(p.status = 'approved', false) AS approved
        FROM live_sessions l LEFT JOIN streamer_profiles p ON p.handle = l.handle
        WHERE l.ended_at IS NULL AND l.hls_url IS NOT NULL AND l.last_beat > $3 AND p.withheld IS NOT TRUE
        ORDER BY l.viewers DESC, l.started_at, l.handle LIMIT $5
    ) s LEFT JOIN shown_overlays o ON o.handle = s.handle AND o.expires_at > $2), '[]'), 'recent', coalesce((
    SELECT jsonb_agg(jsonb_build_object('handle', r.handle, 'endedAt', stamp(r.ended_at),
        'durationS', floor(extract(epoch FROM r.ended_at - r.started_at))::bigint, 'viewersPeak', r.viewers_peak,
        'signal', CASE WHEN r.signal_market IS NOT NULL AND NOT r.hidden THEN jsonb_build_object('marketId', r.signal_market, 'name', r.signal_name) END,
        'showId', r.id, 'startedAt', stamp(r.started_at), 'approved', r.approved) ORDER BY r.ended_at DESC, r.id DESC)
    FROM (
        SELECT l.*, coalesce(p.status = 'approved', false) AS approved, coalesce(p.hidden, false) AS hidden
        FROM live_sessions l LEFT JOIN streamer_profiles p ON p.handle = l.handle
        WHERE l.aired AND l.ended_at > $4 AND p.status IS DISTINCT FROM 'suspended'
        ORDER BY l.ended_at DESC, l.id DESC LIMIT $6
    ) r), '[]'))::text
