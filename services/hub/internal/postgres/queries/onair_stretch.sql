-- The sessions of an operator since $2, and their samples. $1 handle, $3 now.
WITH went AS (
    SELECT id, greatest(started_at, $2::timestamptz) AS from_at,
        least(coalesce(ended_at, last_beat + interval '45 seconds'), $3::timestamptz) AS to_at
    FROM live_sessions
    WHERE handle = $1 AND coalesce(ended_at, $3) > $2
), seen AS (
    SELECT sum(m.viewers)::bigint AS viewers, sum(m.samples) AS samples, max(m.peak) AS peak
    FROM live_samples m WHERE m.session_id IN (SELECT id FROM went) AND m.minute >= date_trunc('minute', $2::timestamptz)
)
SELECT count(*), coalesce(extract(epoch FROM sum(greatest(to_at - from_at, interval '0'))), 0)::bigint,
    coalesce((SELECT peak FROM seen), 0), coalesce((SELECT viewers FROM seen), 0), coalesce((SELECT samples FROM seen), 0)
FROM went
