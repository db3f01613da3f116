-- The calls of the rows ($1 operators, $2 lanes, '': the whole record), by row, price and confidence.
SELECT d.n, t.price_bps, t.confidence, t.calls, t.wins
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY d (user_id, lane, n)
CROSS JOIN LATERAL (
    SELECT price_bps, confidence, sum(calls)::bigint AS calls, sum(wins)::bigint AS wins
    FROM operator_tallies
    WHERE user_id = d.user_id AND (d.lane = '' OR lane = d.lane)
    GROUP BY price_bps, confidence
) t
ORDER BY d.n
