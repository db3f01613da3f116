UPDATE markets SET lane = $2, category = $3, lane_ruled = true, updated_at = $4 WHERE market_id = $1
