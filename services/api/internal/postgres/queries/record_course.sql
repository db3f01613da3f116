-- The points of $1 over its newest $2 calls, in at most $3 steps of counted calls: when each step ended, the points
-- and the number of calls in it; the points now, and whether no call is older.
WITH calls AS MATERIALIZED (
    SELECT id FROM signals WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2
), parts AS (
    SELECT r.resolved_at, r.score, ntile($3) OVER (ORDER BY r.resolved_at, c.id) AS part
    FROM calls c CROSS JOIN LATERAL (SELECT resolved_at, score, counted FROM signal_results WHERE signal_id = c.id LIMIT 1) r
    WHERE r.counted
)
SELECT max(p.resolved_at), sum(p.score)::bigint, count(*),
    coalesce((SELECT score FROM operator_scores WHERE user_id = $1), 0)::bigint, (SELECT count(*) FROM calls) < $2
FROM parts p GROUP BY p.part ORDER BY p.part
