DELETE FROM score_drains WHERE market_id = $1
