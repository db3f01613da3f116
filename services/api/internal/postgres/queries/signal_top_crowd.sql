-- The sides of the top forecasters on a market, down to and including the cut. Each is
-- looked up by key: their number is unknown when this is planned.
SELECT count(*) FILTER (WHERE s.yes), count(*)
FROM signals s
CROSS JOIN LATERAL (
    SELECT user_id FROM operator_scores c
    WHERE c.user_id = s.user_id AND c.counted >= 10
        AND (c.score::double precision / c.counted, c.counted, c.user_id) >= ($2::double precision, $3::bigint, $4::uuid)
    LIMIT 1) c
CROSS JOIN LATERAL (SELECT id FROM users WHERE id = c.user_id AND crowd LIMIT 1) u
WHERE s.market_id = $1
