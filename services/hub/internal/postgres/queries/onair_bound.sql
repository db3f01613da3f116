-- The newest stream that an operator has bound. $1 handle.
SELECT url FROM streams WHERE handle = $1 ORDER BY updated_at DESC, market_id LIMIT 1
