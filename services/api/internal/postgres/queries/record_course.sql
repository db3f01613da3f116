-- How the score of $1 went over its newest $2 calls, in $3 steps at most: when each ended,
-- what it gained and of how many calls; and the score as it is now, and whether no call is older.
WITH calls AS MATERIALIZED (
    SELECT id FROM signals WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2
), parts AS (
    SELECT r.resolved_at, r.score, ntile($3) OVER (ORDER BY r.resolved_at, c.id) AS part
    FROM calls c CROSS JOIN LATERAL (SELECT resolved_at, score, status FROM signal_results WHERE signal_id = c.id LIMIT 1) r
    WHERE r.status <> 'void'
)
SELECT max(p.resolved_at), sum(p.score)::bigint, count(*),
    coalesce((SELECT score FROM operator_scores WHERE user_id = $1), 0)::bigint, (SELECT count(*) FROM calls) < $2
FROM parts p GROUP BY p.part ORDER BY p.part
