-- Open markets of provider $1 that the sweep begun at $2 did not see; one that
-- was asked for since $3 waits. Those come first that were longest not asked for,
-- so that what a venue has dropped does not keep the others out. $4 at most.
SELECT m.market_id FROM markets m
LEFT JOIN (SELECT market_id, coalesce(answered_at, at) AS at FROM market_quotes) q ON q.market_id = m.market_id
LEFT JOIN market_checks c ON c.market_id = m.market_id
WHERE m.provider = $1 AND m.status = 'open' AND coalesce(q.at < $2, true) AND coalesce(c.at < $3, true)
ORDER BY greatest(q.at, c.at) NULLS FIRST, m.market_id
LIMIT $4
