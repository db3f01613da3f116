UPDATE score_drains SET after_user = $2 WHERE market_id = $1
