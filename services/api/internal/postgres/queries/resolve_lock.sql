SELECT disputed, lane, least(end_date, closed_at, provisional_at, $2)
FROM markets WHERE market_id = $1
FOR UPDATE
