-- The counted calls of an operator on venue markets since $2, from the feed, which has 90 days.
SELECT e.lane, within_price(c.basis) AS price_bps, coalesce(c.confidence, 0) AS confidence, count(*), count(*) FILTER (WHERE c.status = 'won')
FROM protocol_events e
CROSS JOIN LATERAL (SELECT basis, confidence, status FROM counted_results WHERE id = e.signal_id AND venue_market LIMIT 1) c
WHERE e.user_id = $1 AND e.at >= $2 AND e.type = 'signal.resolved' AND e.data ->> 'status' <> 'void'
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
