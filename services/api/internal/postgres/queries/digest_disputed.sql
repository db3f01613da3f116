SELECT market_id FROM market_disputes WHERE disputed ORDER BY disputed_at DESC NULLS LAST, market_id LIMIT $1
