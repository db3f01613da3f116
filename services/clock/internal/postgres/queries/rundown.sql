-- name: ListSlots :many
-- Returns the slots of a channel from one slot to another, both included.
SELECT lane, slot, market_id, title, event_key, market_end, filled_at
FROM program_slots
WHERE channel = @channel AND slot BETWEEN @first_slot AND @last_slot
ORDER BY lane, slot;

-- name: ApplySlots :one
-- Applies one change for each array element. An empty old market adds a slot, an empty market clears a slot, and any other change
-- refills a slot. A slot whose market differs from the old market does not change. An empty event key and a market end in year 1
-- are stored as null. Returns the number of changed slots.
WITH change AS (
    SELECT lane, slot, market_id, title, nullif(event_key, '') AS event_key, nullif(market_end, '0001-01-01Z') AS market_end, old
    FROM unnest(
        @lanes::text[], @slots::bigint[], @market_ids::text[], @titles::text[], @event_keys::text[], @market_ends::timestamptz[],
        @old::text[]
    ) AS c (lane, slot, market_id, title, event_key, market_end, old)
), added AS (
    INSERT INTO program_slots (channel, lane, slot, market_id, title, event_key, market_end, filled_at)
    SELECT @channel::text, lane, slot, market_id, title, event_key, market_end, @now::timestamptz
    FROM change WHERE old = '' AND market_id <> ''
    ORDER BY lane, slot
    ON CONFLICT (channel, lane, slot) DO NOTHING
    RETURNING 1
), refilled AS (
    UPDATE program_slots s
    SET market_id = c.market_id, title = c.title, event_key = c.event_key, market_end = c.market_end, filled_at = @now,
        preempt_id = NULL
    FROM change c
    WHERE s.channel = @channel AND s.lane = c.lane AND s.slot = c.slot AND s.market_id = c.old
        AND c.old <> '' AND c.market_id <> ''
    RETURNING 1
), cleared AS (
    DELETE FROM program_slots s USING change c
    WHERE s.channel = @channel AND s.lane = c.lane AND s.slot = c.slot AND s.market_id = c.old
        AND c.old <> '' AND c.market_id = ''
    RETURNING 1
)
SELECT ((SELECT count(*) FROM added) + (SELECT count(*) FROM refilled) + (SELECT count(*) FROM cleared))::integer AS changes;

-- name: ListScheduledMarkets :many
-- Returns the markets that are scheduled on any channel from one slot to another, both included.
SELECT DISTINCT market_id FROM program_slots WHERE slot BETWEEN @first_slot AND @last_slot;

-- name: DeleteOldSlots :exec
-- Deletes the slots before a slot that ended at least one day ago according to the clock of the database.
DELETE FROM program_slots WHERE slot < @before AND (slot + 1) * 610 + 86400 <= extract(epoch FROM clock_timestamp());

-- name: InsertPreempt :exec
-- Stores an entry of a director. An empty reason is stored as null.
INSERT INTO preempts (id, channel, lane, slot, slots, market_id, reason, created_at)
VALUES (@id, @channel, @lane, @slot, @slots, @market_id, nullif(@reason::text, ''), @created_at);

-- name: LockSlots :many
-- Locks the slots of a new entry of a director. taken is true if another entry already has the slot.
SELECT slot, market_id, title, (preempt_id IS NOT NULL)::boolean AS taken
FROM program_slots
WHERE channel = @channel AND lane = @lane AND slot BETWEEN @first_slot AND @last_slot
ORDER BY slot
FOR UPDATE;

-- name: FillPreempt :execrows
-- Assigns slots to an entry of a director. Does not change slots of another entry.
INSERT INTO program_slots AS s (channel, lane, slot, market_id, title, event_key, market_end, filled_at, preempt_id)
SELECT @channel, @lane, k, @market_id, @title, nullif(@event_key::text, ''), sqlc.narg(market_end), @now, @preempt_id::uuid
FROM generate_series(@first_slot::bigint, @last_slot::bigint) k
ORDER BY k
ON CONFLICT (channel, lane, slot) DO UPDATE SET
    market_id = excluded.market_id, title = excluded.title, event_key = excluded.event_key, market_end = excluded.market_end,
    filled_at = excluded.filled_at, preempt_id = excluded.preempt_id
WHERE s.preempt_id IS NULL;

-- name: CancelPreempt :one
-- Cancels an entry of a director that is not over and deletes its slots after a slot. Returns the entry. An entry that is over or
-- already cancelled does not change.
WITH ended AS (
    UPDATE preempts AS e SET cancelled_at = @now
    WHERE e.id = @id AND e.cancelled_at IS NULL AND e.slot + e.slots > @running_slot::bigint
    RETURNING e.id, e.cancelled_at
), emptied AS (
    DELETE FROM program_slots s USING ended e
    WHERE s.preempt_id = e.id AND s.slot > @started_slot::bigint
)
SELECT p.id, p.lane, p.slot, p.slots, p.market_id, coalesce(p.reason, '') AS reason, p.created_at,
    coalesce(e.cancelled_at, p.cancelled_at) AS cancelled_at
FROM preempts p LEFT JOIN ended e ON e.id = p.id
WHERE p.id = @id;

-- name: ListPreempts :many
-- Returns the entries of directors, the latest slot first.
SELECT id, lane, slot, slots, market_id, coalesce(reason, '') AS reason, created_at, cancelled_at
FROM preempts
ORDER BY slot DESC, created_at DESC, id DESC
LIMIT @max_rows;
