-- Who went off the air, the newest first. $1 the end that is too old, $2 limit, $3 the
-- newest heartbeat that is too old: a session without one has ended, whoever notes it.
SELECT id, handle, started_at, coalesce(ended_at, last_beat + interval '45 seconds') AS ended, viewers_peak, signal_market, signal_name
FROM live_sessions
WHERE aired AND (ended_at > $1 OR ended_at IS NULL AND last_beat <= $3 AND last_beat + interval '45 seconds' > $1)
ORDER BY ended DESC, id DESC
LIMIT $2
