-- The last operator of the top quartile: at least ten counted calls, by
-- mean points, then by counted calls.
WITH ranked AS MATERIALIZED (
    SELECT c.user_id, c.score::double precision / c.counted AS mean, c.counted
    FROM operator_scores c JOIN users u ON u.id = c.user_id AND u.crowd
    WHERE c.counted >= 10
)
SELECT mean, counted, user_id FROM ranked
ORDER BY mean DESC, counted DESC, user_id DESC
OFFSET greatest(0, ceil((SELECT count(*) FROM ranked) / 4.0)::bigint - 1) LIMIT 1
