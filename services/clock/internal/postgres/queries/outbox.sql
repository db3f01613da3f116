-- name: ListStarts :many
-- Returns the published starts of a slot.
SELECT channel, slot, lane, market_id, data FROM program_starts WHERE slot = @slot;

-- name: InsertStarts :one
-- Stores starts that are not yet stored and publishes them. Returns their number.
WITH given AS (
    SELECT event_id, channel, slot, lane, market_id, at, data, n
    FROM unnest(
        @event_ids::uuid[], @channels::text[], @slots::bigint[], @lanes::text[], @market_ids::text[], @times::timestamptz[],
        @data::text[]
    ) WITH ORDINALITY AS g (event_id, channel, slot, lane, market_id, at, data, n)
), fresh AS (
    INSERT INTO program_starts (channel, slot, lane, market_id, data)
    SELECT channel, slot, lane, market_id, data FROM given ORDER BY slot, channel
    ON CONFLICT (slot, channel) DO NOTHING
    RETURNING slot, channel
), published AS (
    INSERT INTO outbox (event_id, type, at, market_id, topic, data)
    SELECT g.event_id, 'segment.started', g.at, g.market_id, g.channel, g.data
    FROM given g JOIN fresh f USING (slot, channel)
    ORDER BY g.n
)
SELECT count(*) FROM fresh;

-- name: DeleteOldStarts :exec
-- Deletes the starts of the slots before a slot.
DELETE FROM program_starts WHERE slot < @before;

-- name: PublishCopies :exec
-- Publishes copies of channels. A newer copy replaces a copy of the same channel that is not yet sent.
WITH old AS (
    DELETE FROM outbox WHERE type = 'copy' AND topic = ANY (@channels::text[])
)
INSERT INTO outbox (type, at, topic, data)
SELECT 'copy', @now, c.channel, c.data FROM unnest(@channels::text[], @data::text[]) AS c (channel, data);

-- name: PublishEvents :exec
-- Adds events to the outbox in the order of the array elements.
INSERT INTO outbox (event_id, type, at, market_id, topic, data)
SELECT event_id, type, at, market_id, channel, data
FROM unnest(
    @event_ids::uuid[], @types::text[], @times::timestamptz[], @market_ids::text[], @channels::text[], @data::text[]
) WITH ORDINALITY AS g (event_id, type, at, market_id, channel, data, n)
ORDER BY n;

-- name: ListOutbox :many
-- Returns the oldest unsent facts.
SELECT id AS row_id, event_id AS id, type, at, coalesce(market_id, '') AS market_id, coalesce(handle, '') AS handle,
    coalesce(topic, '') AS topic, data
FROM outbox
ORDER BY outbox.id
LIMIT @max_rows;

-- name: DeleteOutbox :exec
-- Deletes sent facts.
DELETE FROM outbox WHERE id = ANY (@ids::bigint[]);
