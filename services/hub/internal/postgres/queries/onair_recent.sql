-- Sessions that ended, the newest first, without those of suspended operators. A session of a
-- hidden profile has no signal. $1 the end that is too old, $2 limit, $3 the newest heartbeat
-- that is too old: a session without a newer one has ended, whether that is recorded or not.
SELECT s.id, s.handle, s.started_at, coalesce(s.ended_at, s.last_beat + interval '45 seconds') AS ended, s.viewers_peak,
    s.signal_market, CASE WHEN p.hidden IS NOT TRUE THEN s.signal_name END,
    coalesce(p.status = 'approved', false)
FROM live_sessions s
LEFT JOIN streamer_profiles p ON p.handle = s.handle
WHERE s.aired AND (s.ended_at > $1 OR s.ended_at IS NULL AND s.last_beat <= $3 AND s.last_beat + interval '45 seconds' > $1)
    AND p.status IS DISTINCT FROM 'suspended'
ORDER BY ended DESC, s.id DESC
LIMIT $2
