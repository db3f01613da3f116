SELECT owner, title, coalesce(market_id, ''), coalesce(station_id, ''), coalesce(lane, ''), scheduled_for, created_at FROM broadcasts WHERE id = $1
