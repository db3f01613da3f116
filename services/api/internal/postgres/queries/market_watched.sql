-- How many watch the streams of each market. $1 the oldest news that counts.
SELECT market_id, least(sum(viewers), 2147483647)::integer
FROM market_live
WHERE bound AND viewers > 0 AND viewers_at > $1
GROUP BY market_id
