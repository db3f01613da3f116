-- The decided calls of an operator since $2, from the feed, which keeps 90 days.
SELECT e.lane, within_price(s.score_basis_bps) AS price_bps, coalesce(s.confidence, 0) AS confidence, count(*), count(*) FILTER (WHERE e.data ->> 'status' = 'won')
FROM protocol_events e
CROSS JOIN LATERAL (SELECT score_basis_bps, confidence FROM signals WHERE id = e.signal_id LIMIT 1) s
WHERE e.user_id = $1 AND e.at >= $2 AND e.type = 'signal.resolved' AND e.data ->> 'status' <> 'void'
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
