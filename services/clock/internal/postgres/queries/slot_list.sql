SELECT lane, slot, market_id, title, event_key, market_end, filled_at
FROM program_slots
WHERE channel = $1 AND slot BETWEEN $2 AND $3
ORDER BY lane, slot
