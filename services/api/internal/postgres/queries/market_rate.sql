-- Sets whether calls on market $1 count: $2. It returns what was set before. $3 now.
UPDATE markets m SET rated_ruling = $2, updated_at = $3
FROM (SELECT market_id, rated_ruling FROM markets WHERE market_id = $1 FOR UPDATE) o
WHERE m.market_id = o.market_id
RETURNING o.rated_ruling
