-- What the channel of an operator begins with. $1 handle, $2 time of the copy, $3 now, $4 the
-- newest heartbeat that is too old.
INSERT INTO outbox (type, at, topic, data)
SELECT 'snapshot', $2, 'operator:' || $1::text, jsonb_build_object(
    'live', s.id IS NOT NULL, 'approved', s.id IS NOT NULL AND EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = $1 AND p.status = 'approved'),
    'showId', s.id,
    'signal', CASE WHEN o.market_id IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
        'marketId', o.market_id, 'name', o.name, 'streamerId', o.handle, 'updatedAt', stamp(o.updated_at),
        'annotation', o.annotation, 'closesAt', stamp(o.closes_at))) || jsonb_build_object('yesPct', o.yes_pct, 'slug', o.slug) END)::text
FROM (SELECT) one
LEFT JOIN live_sessions s ON s.handle = $1 AND s.ended_at IS NULL AND s.hls_url IS NOT NULL AND s.last_beat > $4
LEFT JOIN shown_overlays o ON o.handle = $1 AND o.market_id IS NOT NULL AND o.expires_at > $3
