-- Open markets of provider $1 with calls filed after $2 and not after $3 that have no quote
-- dated at least $4 after the newest of them; those with the oldest call first, at most $5. Ids
-- of other providers are left out by their prefix $6. Quotes are read by key until enough are found,
-- then the markets of those that have none.
SELECT c.market_id
FROM (
    SELECT market_id, min(created_at) AS oldest, max(created_at) AS newest
    FROM open_signals
    WHERE created_at > $2 AND created_at <= $3 AND CASE $6::text WHEN '' THEN strpos(market_id, '-') = 0 ELSE starts_with(market_id, $6) END
    GROUP BY market_id
    ORDER BY oldest, market_id
) c
LEFT JOIN LATERAL (
    SELECT true AS found FROM quotes q WHERE q.market_id = c.market_id AND q.at >= c.newest + $4::interval LIMIT 1) q ON true
CROSS JOIN LATERAL (
    SELECT FROM markets m
    WHERE q.found IS NULL AND m.market_id = c.market_id AND m.provider = $1 AND m.status = 'open' AND NOT m.provisional LIMIT 1) m
ORDER BY c.oldest, c.market_id LIMIT $5
