DELETE FROM pins WHERE market_id = $1
