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
-- Returns the events on a channel that selects by type only. The range of each type is read by its index, and the
-- ranges are merged.
SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM unnest(@types::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq, e.type, e.at, e.signal_id, e.data FROM shown_events AS e
    WHERE e.type = t.type AND e.seq > @low AND e.seq <= @high
    ORDER BY e.seq LIMIT sqlc.arg('limit')
) AS e
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListHeadsOfMarkets :many
-- Returns the last sequence number up to @up_to on the channel of each given market.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.market_id = k.key AND e.type = ANY (@types::text[]) AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: ListHeadsOfOperators :many
-- Returns the last sequence number up to @up_to on the channel of each given operator.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.user_id = (SELECT u.id FROM users AS u WHERE u.handle = k.key) AND e.type = ANY (@types::text[]) AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: ListHeadsOfTopics :many
-- Returns the last sequence number up to @up_to on each given channel of a programme.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.topic = k.key AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: ListHeadsOfLanes :many
-- Returns the last sequence number up to @up_to on the channel of each given lane.
SELECT k.key::text AS key, h.seq
FROM unnest(@keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e
    WHERE e.lane = k.key AND e.type = ANY (@types::text[]) AND e.seq <= @up_to
    ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: GetHeadOfTypes :one
-- Returns the last sequence number up to @up_to of the given types, or 0.
SELECT coalesce(max(h.seq), 0)::bigint AS seq
FROM unnest(@types::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events AS e WHERE e.type = t.type AND e.seq <= @up_to ORDER BY e.seq DESC LIMIT 1
) AS h;

-- name: StoreFacts :exec
-- Accepts each fact of another service once. New facts enter the outbox in the given order and wake the relay. Only
-- streams of approved operators count as streams of a market. A former handle is replaced with the present one.
WITH given AS (
    SELECT g.id, g.type, g.at, g.market_id, coalesce((
        SELECT u.handle FROM former_handles AS f JOIN users AS u ON u.id = f.user_id WHERE f.handle = g.handle), g.handle) AS handle,
        g.topic, g.data, g.n
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
-- Stores the newest copy of each channel. A channel of an operator whose account was deleted in the meantime is left out.
INSERT INTO channel_copies AS c (channel, at, data)
SELECT DISTINCT ON (g.channel) g.channel, g.at, g.data
FROM unnest(@channels::text[], @at::timestamptz[], @data::jsonb[]) AS g (channel, at, data)
WHERE split_part(g.channel, ':', 1) NOT IN ('operator', 'overlay')
    OR EXISTS (SELECT FROM users AS u WHERE u.handle = split_part(g.channel, ':', 2))
ORDER BY g.channel, g.at DESC
ON CONFLICT (channel) DO UPDATE SET at = excluded.at, data = excluded.data
WHERE c.at <= excluded.at;

-- name: GetChannelCopy :one
-- Returns the copy of a channel.
SELECT data, at FROM channel_copies WHERE channel = @channel;

-- name: StoreViewers :exec
-- Stores the number of viewers of an operator on every market that its stream is bound to. A report that is older than
-- the stored one changes nothing.
UPDATE market_live AS l SET viewers = g.viewers, viewers_at = g.at
FROM (
    SELECT DISTINCT ON (v.handle) v.handle, v.viewers, v.at
    FROM unnest(@handles::text[], @viewers::integer[], @at::timestamptz[]) AS v (handle, viewers, at)
    ORDER BY v.handle, v.at DESC
) AS g
WHERE l.handle = g.handle AND l.bound AND (l.viewers_at IS NULL OR l.viewers_at <= g.at);

-- name: StoreTapes :exec
-- Stores the number of tapes of each market. A report that is older than the stored one changes nothing.
INSERT INTO market_tapes AS t (market_id, tapes, at)
SELECT DISTINCT ON (g.market_id) g.market_id, g.tapes, g.at
FROM unnest(@market_ids::text[], @tapes::bigint[], @at::timestamptz[]) AS g (market_id, tapes, at)
ORDER BY g.market_id, g.at DESC
ON CONFLICT (market_id) DO UPDATE SET tapes = excluded.tapes, at = excluded.at
WHERE t.at <= excluded.at;

-- name: StoreViewerReports :exec
-- Stores each report of watched time once, and marks the board rows of its operator. Reports of unknown operators are
-- ignored. A report that arrives more than 27 days late counts as 27 days old, because the boards do not look for reports
-- that have already left their window of 28 days.
WITH stored AS (
    INSERT INTO viewer_reports (event_id, user_id, at, viewer_seconds)
    SELECT g.id, u.id, least(@now::timestamptz, greatest(g.at, sqlc.arg(now)::timestamptz - interval '27 days')), g.seconds
    FROM unnest(@ids::uuid[], @handles::text[], @at::timestamptz[], @seconds::bigint[]) AS g (id, handle, at, seconds)
    JOIN users AS u ON u.id = operator_of(g.handle)
    ORDER BY g.id
    ON CONFLICT (event_id) DO NOTHING
    RETURNING user_id
)
INSERT INTO board_viewers_due (user_id) SELECT DISTINCT user_id FROM stored;

-- name: DeleteOldViewerReports :exec
-- Deletes reports of watched time that are older than the window of the boards.
DELETE FROM viewer_reports WHERE at < least(@before::timestamptz, (SELECT b.since FROM board_state AS b));

-- name: DeleteOldFacts :exec
-- Deletes the ids of facts that are older than a week. A sender repeats a fact without an answer, but not for that
-- long.
DELETE FROM published WHERE taken_at < now() - interval '7 days';
