SELECT market_id, title, lane, category, lane_ruled FROM markets WHERE market_id = ANY ($1)
