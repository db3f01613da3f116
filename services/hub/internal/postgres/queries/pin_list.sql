-- The first pins in their order. $1 limit.
SELECT market_id, label, tagline, position, created_at
FROM pins
ORDER BY position, created_at, market_id
LIMIT $1
