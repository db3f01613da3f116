-- How the top forecasters, down to and including the cut, stand on a market. Each is
-- looked up by key: how many they are is not known when this is planned.
SELECT count(*) FILTER (WHERE s.yes), count(*)
FROM signals s
CROSS JOIN LATERAL (
    SELECT user_id FROM operator_scores c
    WHERE c.user_id = s.user_id AND c.won + c.lost >= 10
        AND (c.score::double precision / (c.won + c.lost), c.won + c.lost, c.user_id) >= ($2::double precision, $3::bigint, $4::uuid)
    LIMIT 1) c
CROSS JOIN LATERAL (SELECT id FROM users WHERE id = c.user_id AND crowd LIMIT 1) u
WHERE s.market_id = $1
