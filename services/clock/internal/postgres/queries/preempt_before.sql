-- What stands in slots that an entry is to have, and whose they are. $1 channel,
-- $2 lane, $3 first slot, $4 last slot.
SELECT slot, market_id, title, preempt_id IS NOT NULL AS taken
FROM program_slots
WHERE channel = $1 AND lane = $2 AND slot BETWEEN $3 AND $4
ORDER BY slot
FOR UPDATE
