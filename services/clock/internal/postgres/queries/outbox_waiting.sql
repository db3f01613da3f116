SELECT id, event_id, type, at, coalesce(market_id, ''), coalesce(handle, ''), coalesce(topic, ''), data
FROM outbox ORDER BY id LIMIT $1
