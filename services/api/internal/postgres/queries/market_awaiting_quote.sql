-- Open markets of provider $1 with calls filed after $2 and not after $3 that have no quote
-- dated at least $4 after the newest of them; those with the oldest call first, at most $5.
SELECT c.market_id
FROM (
    SELECT market_id, min(created_at) AS oldest, max(created_at) AS newest
    FROM open_signals WHERE created_at > $2 AND created_at <= $3 GROUP BY market_id
) c
JOIN markets m ON m.market_id = c.market_id
WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional
    AND NOT EXISTS (SELECT FROM quotes q WHERE q.market_id = c.market_id AND q.at >= c.newest + $4::interval)
ORDER BY c.oldest, c.market_id LIMIT $5
