-- The last operator of the top quartile (contract 4.2.6): ten or more resolved
-- calls, by mean score, then by resolved calls.
SELECT mean, resolved, user_id FROM (
    SELECT c.user_id, c.score::double precision / (c.won + c.lost) AS mean, c.won + c.lost AS resolved,
        row_number() OVER (ORDER BY c.score::double precision / (c.won + c.lost) DESC, c.won + c.lost DESC, c.user_id DESC) AS place,
        count(*) OVER () AS n
    FROM operator_scores c JOIN users u ON u.id = c.user_id AND u.crowd
    WHERE c.won + c.lost >= 10
) ranked
WHERE place = ceil(n / 4.0)
