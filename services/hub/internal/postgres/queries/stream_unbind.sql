DELETE FROM streams WHERE market_id = $1 AND handle = $2
