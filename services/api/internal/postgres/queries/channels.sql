-- name: ListChannelOfMarket :many
-- Returns the events on the channel of a market.
SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events AS e
WHERE e.market_id = @market_id::text AND e.type = ANY (@types::text[]) AND e.seq > @low AND e.seq <= @high
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListChannelOfOperator :many
-- Returns the events on the channel of an operator.
SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events AS e
WHERE e.user_id = (SELECT u.id FROM users AS u WHERE u.handle = @handle) AND e.type = ANY (@types::text[])
    AND e.seq > @low AND e.seq <= @high
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListChannelOfTopic :many
-- Returns the events on a channel of a programme.
SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events AS e
WHERE e.topic = @topic::text AND e.seq > @low AND e.seq <= @high
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListChannelOfLane :many
-- Returns the events on the channel of a lane.
SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events AS e
WHERE e.lane = @lane::text AND e.type = ANY (@types::text[]) AND e.seq > @low AND e.seq <= @high
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListChannelOfTypes :many
-- Returns the events on a channel that has types alone: the range of each type is read by its index, and the ranges are merged.
SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM unnest(@types::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq, e.type, e.at, e.signal_id, e.data FROM shown_events AS e
    WHERE e.type = t.type AND e.seq > @low AND e.seq <= @high
    ORDER BY e.seq LIMIT sqlc.arg('limit')
) AS e
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListHeadsOfMarkets :many
-- Returns the last number up to @up_to on each channel of the given markets.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.market_id = k.key AND e.type = ANY (@types::text[]) AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: ListHeadsOfOperators :many
-- Returns the last number up to @up_to on each channel of the given operators.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.user_id = (SELECT u.id FROM users AS u WHERE u.handle = k.key) AND e.type = ANY (@types::text[]) AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: ListHeadsOfTopics :many
-- Returns the last number up to @up_to on each channel of the given channels of a programme.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.topic = k.key AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: ListHeadsOfLanes :many
-- Returns the last number up to @up_to on each channel of the given lanes.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.lane = k.key AND e.type = ANY (@types::text[]) AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: GetHeadOfTypes :one
-- Returns the last number up to @up_to of some types, 0 for none.
SELECT coalesce(max(h.seq), 0)::bigint AS seq
FROM unnest(@types::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e WHERE e.type = t.type AND e.seq <= @up_to ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: TakeFacts :exec
-- Takes each fact of another service once: what is new goes to the outbox, in the order given, and wakes the relay. A market's
-- streams are those of approved operators.
WITH given AS (
    SELECT g.id, g.type, g.at, g.market_id, g.handle, g.topic, g.data, g.n
    FROM unnest(@ids::uuid[], @types::text[], @at::timestamptz[], @market_ids::pg_catalog.text[], @handles::pg_catalog.text[],
            @topics::pg_catalog.text[], @data::jsonb[])
        WITH ORDINALITY AS g (id, type, at, market_id, handle, topic, data, n)
), fresh AS (
    INSERT INTO published (event_id) SELECT id FROM given ORDER BY id
    ON CONFLICT (event_id) DO NOTHING
    RETURNING event_id
), taken AS (
    SELECT g.id, g.type, g.at, g.market_id, g.handle, g.topic, g.data, g.n FROM given g JOIN fresh f ON f.event_id = g.id
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, topic, data, at)
    SELECT t.type, t.market_id, u.id, t.topic, t.data, t.at
    FROM taken t LEFT JOIN users u ON u.handle = t.handle
    ORDER BY t.n
), streams AS (
    INSERT INTO market_live AS l (market_id, handle, bound, at)
    SELECT DISTINCT ON (t.market_id, t.handle) t.market_id, t.handle,
        t.type = 'stream.bound' AND coalesce((t.data ->> 'approved')::boolean, false), t.at
    FROM taken t
    WHERE t.type IN ('stream.bound', 'stream.unbound') AND t.market_id IS NOT NULL AND t.handle IS NOT NULL
    ORDER BY t.market_id, t.handle, t.n DESC
    ON CONFLICT (market_id, handle) DO UPDATE SET bound = excluded.bound, at = excluded.at
)
SELECT pg_notify('sc_outbox', '') FROM taken LIMIT 1;

-- name: StoreChannelCopies :exec
-- Stores the newest copy of each channel.
INSERT INTO channel_copies AS c (channel, at, data)
SELECT DISTINCT ON (g.channel) g.channel, g.at, g.data
FROM unnest(@channels::text[], @at::timestamptz[], @data::jsonb[]) AS g (channel, at, data)
ORDER BY g.channel, g.at DESC
ON CONFLICT (channel) DO UPDATE SET at = excluded.at, data = excluded.data
WHERE c.at <= excluded.at;

-- name: GetChannelCopy :one
-- Returns the copy of a channel.
SELECT data, at FROM channel_copies WHERE channel = @channel;

-- name: StoreViewers :exec
-- Notes how many people watch an operator, on every market that its stream is bound to. Older reports than the stored one change
-- nothing.
UPDATE market_live AS l SET viewers = g.viewers, viewers_at = g.at
FROM (
    SELECT DISTINCT ON (v.handle) v.handle, v.viewers, v.at
    FROM unnest(@handles::text[], @viewers::integer[], @at::timestamptz[]) AS v (handle, viewers, at)
    ORDER BY v.handle, v.at DESC
) AS g
WHERE l.handle = g.handle AND l.bound AND (l.viewers_at IS NULL OR l.viewers_at <= g.at);

-- name: DeleteOldFacts :exec
-- Deletes the ids of facts of more than a week ago: a sender repeats a fact that was not answered, but not for that long.
DELETE FROM published WHERE taken_at < now() - interval '7 days';
