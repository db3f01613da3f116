SELECT provider, status, disputed, coalesce(created_by, '') FROM markets WHERE market_id = $1 FOR UPDATE
