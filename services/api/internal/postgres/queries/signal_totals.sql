SELECT yes, no, crowd_yes, crowd_no FROM market_totals WHERE market_id = $1
