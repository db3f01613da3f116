-- Gives slots to an entry; those that another entry has stay as they are. $1 channel,
-- $2 lane, $3 first slot, $4 last slot, $5 market, $6 title, $7 event key, $8 the
-- market's end, $9 now, $10 entry.
INSERT INTO program_slots AS s (channel, lane, slot, market_id, title, event_key, market_end, filled_at, preempt_id)
SELECT $1, $2, k, $5, $6, nullif($7::text, ''), $8, $9, $10 FROM generate_series($3::bigint, $4::bigint) k
ORDER BY k
ON CONFLICT (channel, lane, slot) DO UPDATE SET
    market_id = excluded.market_id, title = excluded.title, event_key = excluded.event_key, market_end = excluded.market_end,
    filled_at = excluded.filled_at, preempt_id = excluded.preempt_id
WHERE s.preempt_id IS NULL
