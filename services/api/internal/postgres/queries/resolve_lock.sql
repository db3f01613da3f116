SELECT disputed, lane, least(end_date, closed_at, provisional_at, $2),
    coalesce((SELECT t.yes + t.no FROM market_totals t WHERE t.market_id = m.market_id), 0)
FROM markets m WHERE market_id = $1
FOR UPDATE OF m
