INSERT INTO preempts (id, channel, lane, slot, slots, market_id, reason, created_at)
VALUES ($1, $2, $3, $4, $5, $6, nullif($7::text, ''), $8)
