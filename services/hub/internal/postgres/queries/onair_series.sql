-- Viewers step by step, the newest steps. $1 handle, $2 from, $3 seconds of a step, $4 limit.
SELECT to_timestamp(floor(extract(epoch FROM m.minute) / $3::integer) * $3) AS step, round(sum(m.viewers)::numeric / sum(m.samples))::bigint
FROM live_samples m JOIN live_sessions s ON s.id = m.session_id
WHERE s.handle = $1 AND m.minute >= $2
GROUP BY step
ORDER BY step DESC
LIMIT $4
