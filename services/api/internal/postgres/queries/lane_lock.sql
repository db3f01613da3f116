SELECT title, lane, category FROM markets WHERE market_id = $1 FOR NO KEY UPDATE
