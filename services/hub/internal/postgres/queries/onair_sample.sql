-- Notes how many watch: $1 sessions, $2 viewers of each, $3 now. Listeners of the live
-- list hear of those that changed.
WITH given AS (
    SELECT * FROM unnest($1::uuid[], $2::integer[]) AS g (id, viewers)
), before AS (
    SELECT s.id, s.handle, s.viewers AS had, g.viewers FROM live_sessions s JOIN given g ON g.id = s.id
    WHERE s.ended_at IS NULL FOR UPDATE OF s
), moved AS (
    UPDATE live_sessions s SET viewers = b.viewers, viewers_peak = greatest(s.viewers_peak, b.viewers)
    FROM before b WHERE s.id = b.id AND b.had <> b.viewers
), kept AS (
    INSERT INTO live_samples AS m (session_id, minute, viewers, samples, peak)
    SELECT id, date_trunc('minute', $3::timestamptz), viewers, 1, viewers FROM before
    ON CONFLICT (session_id, minute) DO UPDATE SET viewers = m.viewers + excluded.viewers, samples = m.samples + 1,
        peak = greatest(m.peak, excluded.peak)
), told AS (
    INSERT INTO outbox (type, at, handle, topic, data)
    SELECT 'viewers.updated', $3, handle, 'live', jsonb_build_object('handle', handle, 'viewers', viewers)::text
    FROM before WHERE had <> viewers
    RETURNING handle
)
SELECT count(*) FROM told
