-- The last operator of the top quartile (contract 4.2.6): ten or more resolved
-- calls, by mean score, then by resolved calls.
WITH ranked AS MATERIALIZED (
    SELECT c.user_id, c.score::double precision / (c.won + c.lost) AS mean, c.won + c.lost AS resolved
    FROM operator_scores c JOIN users u ON u.id = c.user_id AND u.crowd
    WHERE c.won + c.lost >= 10
)
SELECT mean, resolved, user_id FROM ranked
ORDER BY mean DESC, resolved DESC, user_id DESC
OFFSET greatest(0, ceil((SELECT count(*) FROM ranked) / 4.0)::bigint - 1) LIMIT 1
