-- One change per array element: old '' adds, market '' clears, else refills.
-- What is no longer as the planner saw it stays as it is.
WITH c AS (
    SELECT * FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[])
        AS c (lane, slot, market_id, title, event_key, market_end, old)
), added AS (
    INSERT INTO program_slots (channel, lane, slot, market_id, title, event_key, market_end, filled_at)
    SELECT $1, lane, slot, market_id, title, event_key, market_end, $9 FROM c WHERE old = '' AND market_id <> ''
    ORDER BY lane, slot
    ON CONFLICT (channel, lane, slot) DO NOTHING
    RETURNING 1
), refilled AS (
    UPDATE program_slots s
    SET market_id = c.market_id, title = c.title, event_key = c.event_key, market_end = c.market_end, filled_at = $9, preempt_id = NULL
    FROM c
    WHERE s.channel = $1 AND s.lane = c.lane AND s.slot = c.slot AND s.market_id = c.old AND c.old <> '' AND c.market_id <> ''
    RETURNING 1
), cleared AS (
    DELETE FROM program_slots s USING c
    WHERE s.channel = $1 AND s.lane = c.lane AND s.slot = c.slot AND s.market_id = c.old AND c.old <> '' AND c.market_id = ''
    RETURNING 1
)
SELECT (SELECT count(*) FROM added) + (SELECT count(*) FROM refilled) + (SELECT count(*) FROM cleared)
