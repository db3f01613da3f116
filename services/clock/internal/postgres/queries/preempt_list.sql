SELECT id, lane, slot, slots, market_id, coalesce(reason, ''), created_at, cancelled_at
FROM preempts
ORDER BY slot DESC, created_at DESC, id DESC
LIMIT $1
