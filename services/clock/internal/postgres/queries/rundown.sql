-- name: ListSlots :many
SELECT lane, slot, market_id, title, event_key, market_end, filled_at
FROM program_slots
WHERE channel = @channel AND slot BETWEEN @first_slot AND @last_slot
ORDER BY lane, slot;

-- name: ApplySlots :one
-- Applies one change per array element: an empty old market adds, an empty market clears, anything
-- else refills. A slot whose market is not the old one stays as it is. An event key that is empty and
-- a market end of year 1 are stored as null. Returns the number of changes.
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
-- Returns the markets in slots of any channel, from one slot to another.
SELECT DISTINCT market_id FROM program_slots WHERE slot BETWEEN @first_slot AND @last_slot;

-- name: DeleteOldSlots :exec
-- Deletes slots before a slot that ended a day ago by the clock of the database.
DELETE FROM program_slots WHERE slot < @before AND (slot + 1) * 610 + 86400 <= extract(epoch FROM clock_timestamp());

-- name: InsertPreempt :exec
INSERT INTO preempts (id, channel, lane, slot, slots, market_id, reason, created_at)
VALUES (@id, @channel, @lane, @slot, @slots, @market_id, nullif(@reason::text, ''), @created_at);

-- name: LockSlots :many
-- Locks the slots that an entry takes. taken: another entry has the slot.
SELECT slot, market_id, title, (preempt_id IS NOT NULL)::boolean AS taken
FROM program_slots
WHERE channel = @channel AND lane = @lane AND slot BETWEEN @first_slot AND @last_slot
ORDER BY slot
FOR UPDATE;

-- name: FillPreempt :execrows
-- Gives slots to an entry. Slots of another entry stay as they are.
INSERT INTO program_slots AS s (channel, lane, slot, market_id, title, event_key, market_end, filled_at, preempt_id)
SELECT @channel, @lane, k, @market_id, @title, nullif(@event_key::text, ''), sqlc.narg(market_end), @now, @preempt_id::uuid
FROM generate_series(@first_slot::bigint, @last_slot::bigint) k
ORDER BY k
ON CONFLICT (channel, lane, slot) DO UPDATE SET
    market_id = excluded.market_id, title = excluded.title, event_key = excluded.event_key, market_end = excluded.market_end,
    filled_at = excluded.filled_at, preempt_id = excluded.preempt_id
WHERE s.preempt_id IS NULL;

-- name: CancelPreempt :one
-- Ends an entry that is not over and deletes its slots after a slot. Returns an entry that is over or was
-- cancelled before unchanged.
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
SELECT id, lane, slot, slots, market_id, coalesce(reason, '') AS reason, created_at, cancelled_at
FROM preempts
ORDER BY slot DESC, created_at DESC, id DESC
LIMIT @max_rows;
