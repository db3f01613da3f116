-- name: LockOperator :exec
-- Serializes the transactions that change the live session or overlay of one operator.
SELECT pg_advisory_xact_lock(hashtextextended('onair:' || @handle::text, 0));

-- name: GetLiveSession :one
SELECT sqlc.embed(l) FROM live_sessions l WHERE l.handle = @handle AND l.id = @id;

-- name: GetNewestLiveSession :one
SELECT sqlc.embed(l) FROM live_sessions l WHERE l.handle = @handle ORDER BY l.started_at DESC LIMIT 1;

-- name: GetLiveSessionOfMessage :one
-- Returns the session that a go-live message started or extended.
SELECT sqlc.embed(l) FROM live_sessions l WHERE l.id = (SELECT g.session_id FROM go_lives g WHERE g.message_id = @message_id);

-- name: LockLiveSession :one
SELECT sqlc.embed(l) FROM live_sessions l WHERE l.handle = @handle AND l.ended_at IS NULL FOR UPDATE;

-- name: InsertLiveSession :exec
-- Starts a session after the end of the previous one, so that the newest session has the latest start.
INSERT INTO live_sessions (
    id, handle, started_at, last_beat, market_id, own_url, broadcast_id, bitrate_kbps, reported_viewers
)
SELECT @id, @handle, start.at, start.at, @market_id, nullif(sqlc.narg(own_url)::text, ''), @broadcast_id,
    sqlc.narg(bitrate_kbps)::bigint, sqlc.narg(reported_viewers)::bigint
FROM (SELECT greatest(@now::timestamptz, (
    SELECT l.ended_at + interval '1 microsecond' FROM live_sessions l WHERE l.handle = @handle ORDER BY l.started_at DESC LIMIT 1
))::timestamptz AS at) start;

-- name: ExtendLiveSession :exec
-- Records a heartbeat. Null keeps the stored value; an empty own_url deletes it.
UPDATE live_sessions SET
    last_beat = greatest(last_beat, @now), market_id = coalesce(sqlc.narg(market_id), market_id),
    own_url = CASE WHEN sqlc.narg(own_url)::text IS NULL THEN own_url ELSE nullif(sqlc.narg(own_url)::text, '') END,
    broadcast_id = coalesce(sqlc.narg(broadcast_id), broadcast_id),
    bitrate_kbps = coalesce(sqlc.narg(bitrate_kbps)::bigint, bitrate_kbps),
    reported_viewers = coalesce(sqlc.narg(reported_viewers)::bigint, reported_viewers)
WHERE id = @id;

-- name: EndLiveSession :exec
-- Ends a session and its broadcast, and stores the current overlay signal with the session.
WITH over AS (
    SELECT o.market_id, o.name FROM live_sessions s JOIN overlay_signals o ON o.handle = s.handle
    WHERE s.id = @id AND o.market_id IS NOT NULL AND o.expires_at > @now
), ended AS (
    UPDATE live_sessions l SET ended_at = greatest(@ended_at::timestamptz, l.started_at), viewers = 0,
        signal_market = (SELECT over.market_id FROM over), signal_name = (SELECT over.name FROM over)
    WHERE l.id = @id AND l.ended_at IS NULL
    RETURNING l.broadcast_id
)
UPDATE broadcasts b SET state = 'ended' FROM ended e WHERE b.id = e.broadcast_id AND b.state = 'live';

-- name: InsertGoLive :exec
-- Records the session that a go-live message started or extended, and sets its broadcast to live.
WITH noted AS (
    INSERT INTO go_lives (message_id, session_id, at) VALUES (@message_id, @session_id, @now)
)
UPDATE broadcasts SET state = 'live' WHERE id = @broadcast_id;

-- name: GetSessionURL :one
-- Returns the stream URL of a session: the URL of its go-live message, else the stream bound to its market or to that
-- of the overlay signal, else the provisioned stream, else the stream that was bound last. It is empty if there is none
-- or if the operator is withheld.
SELECT (CASE WHEN EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = @handle AND p.withheld) THEN '' ELSE coalesce(
    l.own_url,
    (SELECT b.url FROM streams b WHERE b.handle = @handle AND b.market_id = coalesce(l.market_id,
        (SELECT o.market_id FROM overlay_signals o WHERE o.handle = @handle AND o.expires_at > @now))),
    nullif(sqlc.arg(provisioned)::text, ''),
    (SELECT b.url FROM streams b WHERE b.handle = @handle ORDER BY b.updated_at DESC, b.market_id LIMIT 1),
    '') END)::text AS url
FROM live_sessions l WHERE l.id = @id;

-- name: SetSessionURL :exec
-- Sets the stream URL of a session. Null takes the session off the air.
UPDATE live_sessions SET hls_url = sqlc.narg(hls_url), aired = aired OR sqlc.narg(hls_url)::text IS NOT NULL WHERE id = @id;

-- name: EraseLiveSessions :exec
-- Erases the addresses and the texts of all sessions of an operator.
UPDATE live_sessions SET own_url = NULL, hls_url = NULL, signal_name = NULL WHERE handle = @handle;

-- name: ListLive :many
-- Returns live sessions, most viewers first. A session without a heartbeat after stale is not live.
SELECT s.id, s.handle, s.hls_url, s.viewers, s.started_at, coalesce(s.market_id, o.market_id) AS market_id,
    o.market_id AS signal_market, o.name AS signal_name, coalesce(p.status = 'approved', false)::boolean AS approved
FROM live_sessions s
LEFT JOIN shown_overlays o ON o.handle = s.handle AND o.market_id IS NOT NULL AND o.expires_at > @now
LEFT JOIN streamer_profiles p ON p.handle = s.handle
WHERE s.ended_at IS NULL AND s.hls_url IS NOT NULL AND s.last_beat > @stale AND p.withheld IS NOT TRUE
ORDER BY s.viewers DESC, s.started_at, s.handle
LIMIT @max_rows;

-- name: ListRecent :many
-- Returns ended sessions, newest first, without those of suspended operators. The signal name is empty for a hidden
-- profile. A session without a heartbeat after stale counts as ended even if its end is not stored yet. There are few such
-- sessions; of the others, only the newest are read, however long ago @since is.
WITH past AS (
    (SELECT l.id, l.ended_at AS ended
    FROM live_sessions l
    WHERE l.aired AND l.ended_at > @since::timestamptz
        AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = l.handle AND p.status = 'suspended')
    ORDER BY l.ended_at DESC, l.id DESC
    LIMIT @max_rows)
    UNION ALL
    SELECT l.id, l.last_beat + interval '45 seconds' AS ended
    FROM live_sessions l
    WHERE l.aired AND l.ended_at IS NULL AND l.last_beat <= @stale AND l.last_beat + interval '45 seconds' > @since::timestamptz
        AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = l.handle AND p.status = 'suspended')
)
SELECT s.id, s.handle, s.started_at, past.ended::timestamptz AS ended, s.viewers_peak, s.signal_market,
    coalesce(CASE WHEN p.hidden IS NOT TRUE THEN s.signal_name END, '')::text AS signal_name,
    coalesce(p.status = 'approved', false)::boolean AS approved
FROM past
JOIN live_sessions s ON s.id = past.id
LEFT JOIN streamer_profiles p ON p.handle = s.handle
ORDER BY past.ended DESC, s.id DESC
LIMIT @max_rows;

-- name: ListStaleLiveSessions :many
-- Returns operators whose open session has no heartbeat after a time.
SELECT handle FROM live_sessions WHERE ended_at IS NULL AND last_beat <= @stale ORDER BY last_beat LIMIT @max_rows;

-- name: CountLiveSessions :one
SELECT count(*) FROM live_sessions WHERE handle = @handle;

-- name: TakeChannelTime :one
-- Returns the time for a new snapshot of a channel, which is later than that of the previous snapshot. It locks the
-- channel until the end of the transaction, so that snapshots are published in the order of their times.
INSERT INTO live_heads AS h (channel, at) VALUES (@channel, @now)
ON CONFLICT (channel) DO UPDATE SET at = greatest(excluded.at, h.at + interval '1 microsecond')
RETURNING at;

-- name: PublishLive :exec
-- Publishes that an operator went live.
INSERT INTO outbox (type, at, handle, data)
SELECT 'operator.live', @now::timestamptz, s.handle, jsonb_build_object(
    'handle', s.handle, 'hlsUrl', s.hls_url, 'viewers', s.viewers,
    'signal', CASE WHEN o.market_id IS NOT NULL THEN jsonb_build_object('marketId', o.market_id, 'name', o.name) END,
    'showId', s.id, 'startedAt', stamp(s.started_at),
    'approved', EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = s.handle AND p.status = 'approved'))::text
FROM live_sessions s
LEFT JOIN shown_overlays o ON o.handle = s.handle AND o.expires_at > @now::timestamptz
WHERE s.id = @id;

-- name: PublishOffline :exec
-- Publishes that an operator is offline. The session can still be open.
INSERT INTO outbox (type, at, handle, data)
SELECT 'operator.offline', @now, s.handle, jsonb_build_object(
    'handle', s.handle, 'endedAt', stamp(@ended_at::timestamptz),
    'durationS', greatest(0, floor(extract(epoch FROM sqlc.arg(ended_at)::timestamptz - s.started_at)))::bigint,
    'viewersPeak', s.viewers_peak,
    'signal', CASE WHEN s.signal_market IS NOT NULL
        THEN jsonb_build_object('marketId', s.signal_market, 'name', s.signal_name) END,
    'showId', s.id, 'startedAt', stamp(s.started_at),
    'approved', EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = s.handle AND p.status = 'approved'))::text
FROM live_sessions s
WHERE s.id = @id;

-- name: PublishLiveList :exec
-- Publishes the snapshot of the channel of the live list.
INSERT INTO outbox (type, at, topic, data)
SELECT 'snapshot', @at, 'live', jsonb_build_object('live', coalesce((
    SELECT jsonb_agg(jsonb_build_object(
        'handle', s.handle, 'hlsUrl', s.hls_url, 'viewers', s.viewers,
        'signal', CASE WHEN o.market_id IS NOT NULL THEN jsonb_build_object('marketId', o.market_id, 'name', o.name) END,
        'showId', s.id, 'startedAt', stamp(s.started_at), 'approved', s.approved) ORDER BY s.viewers DESC, s.started_at, s.handle)
    FROM (
        SELECT l.id, l.handle, l.hls_url, l.viewers, l.started_at, coalesce(p.status = 'approved', false) AS approved
        FROM live_sessions l LEFT JOIN streamer_profiles p ON p.handle = l.handle
        WHERE l.ended_at IS NULL AND l.hls_url IS NOT NULL AND l.last_beat > @stale AND p.withheld IS NOT TRUE
        ORDER BY l.viewers DESC, l.started_at, l.handle LIMIT @max_live
    ) s LEFT JOIN shown_overlays o ON o.handle = s.handle AND o.expires_at > @now), '[]'), 'recent', coalesce((
    SELECT jsonb_agg(jsonb_build_object(
        'handle', r.handle, 'endedAt', stamp(r.ended_at),
        'durationS', floor(extract(epoch FROM r.ended_at - r.started_at))::bigint, 'viewersPeak', r.viewers_peak,
        'signal', CASE WHEN r.signal_market IS NOT NULL AND NOT r.hidden
            THEN jsonb_build_object('marketId', r.signal_market, 'name', r.signal_name) END,
        'showId', r.id, 'startedAt', stamp(r.started_at), 'approved', r.approved) ORDER BY r.ended_at DESC, r.id DESC)
    FROM (
        SELECT l.id, l.handle, l.started_at, l.ended_at, l.viewers_peak, l.signal_market, l.signal_name,
            coalesce(p.status = 'approved', false) AS approved, coalesce(p.hidden, false) AS hidden
        FROM live_sessions l LEFT JOIN streamer_profiles p ON p.handle = l.handle
        WHERE l.aired AND l.ended_at > @since::timestamptz AND p.status IS DISTINCT FROM 'suspended'
        ORDER BY l.ended_at DESC, l.id DESC LIMIT @max_recent
    ) r), '[]'))::text;

-- name: PublishOperator :exec
-- Publishes the snapshot of the channel of an operator.
INSERT INTO outbox (type, at, topic, data)
SELECT 'snapshot', @at, 'operator:' || @handle::text, jsonb_build_object(
    'live', s.id IS NOT NULL,
    'approved', s.id IS NOT NULL AND EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = @handle AND p.status = 'approved'),
    'showId', s.id,
    'signal', CASE WHEN o.market_id IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
        'marketId', o.market_id, 'name', o.name, 'streamerId', o.handle, 'updatedAt', stamp(o.updated_at),
        'annotation', o.annotation, 'closesAt', stamp(o.closes_at))) || jsonb_build_object('yesPct', o.yes_pct, 'slug', o.slug)
    END)::text
FROM (SELECT) one
LEFT JOIN live_sessions s ON s.handle = @handle AND s.ended_at IS NULL AND s.hls_url IS NOT NULL AND s.last_beat > @stale
LEFT JOIN shown_overlays o ON o.handle = @handle AND o.market_id IS NOT NULL AND o.expires_at > @now;

-- name: InsertSamples :one
-- Stores the numbers of viewers of sessions and publishes those that changed. Returns the number of changes.
WITH given AS (
    SELECT g.id, g.viewers FROM unnest(@ids::uuid[], @viewers::integer[]) AS g (id, viewers)
), before AS (
    SELECT s.id, s.handle, s.viewers AS had, g.viewers FROM live_sessions s JOIN given g ON g.id = s.id
    WHERE s.ended_at IS NULL FOR UPDATE OF s
), moved AS (
    UPDATE live_sessions s SET viewers = b.viewers, viewers_peak = greatest(s.viewers_peak, b.viewers)
    FROM before b WHERE s.id = b.id AND b.had <> b.viewers
), stored AS (
    INSERT INTO live_samples AS m (session_id, minute, viewers, samples, peak)
    SELECT b.id, date_trunc('minute', @now::timestamptz), b.viewers, 1, b.viewers FROM before b
    ON CONFLICT (session_id, minute) DO UPDATE SET
        viewers = m.viewers + excluded.viewers, samples = m.samples + 1, peak = greatest(m.peak, excluded.peak)
), published AS (
    INSERT INTO outbox (type, at, handle, topic, data)
    SELECT 'viewers.updated', @now::timestamptz, b.handle, 'live',
        jsonb_build_object('handle', b.handle, 'viewers', b.viewers)::text
    FROM before b WHERE b.had <> b.viewers
    RETURNING handle
)
SELECT count(*) FROM published;

-- name: ReportViewers :exec
-- Publishes the time for which viewers watched each session, with at most one report for a session and hour. A sample is
-- published once. Samples of ended sessions are published at once. Open sessions are due when a sample was not published
-- before @due; then their samples up to @complete are published. Samples before @oldest have left the window of the ledger.
WITH due AS (
    SELECT s.id, s.ended_at
    FROM live_samples m JOIN live_sessions s ON s.id = m.session_id
    WHERE NOT m.reported AND m.minute > @oldest
    GROUP BY s.id
    HAVING s.ended_at IS NOT NULL OR min(m.minute) <= @due::timestamptz
), taken AS (
    UPDATE live_samples m SET reported = true
    FROM due d
    WHERE m.session_id = d.id AND NOT m.reported AND m.minute > @oldest
        AND (d.ended_at IS NOT NULL OR m.minute <= @complete::timestamptz)
    RETURNING m.session_id, m.minute, m.viewers
)
INSERT INTO outbox (type, at, handle, data)
SELECT 'viewers.watched', max(t.minute) + interval '1 minute', s.handle,
    jsonb_build_object('viewerSeconds', sum(t.viewers) * sqlc.arg(sample_seconds)::bigint)::text
FROM taken t JOIN live_sessions s ON s.id = t.session_id
GROUP BY s.id, s.handle, date_trunc('hour', t.minute)
HAVING sum(t.viewers) > 0
ORDER BY max(t.minute);

-- name: DeleteOldSamples :exec
-- Deletes samples, overlay counts and cleared overlay signals that are older than a time.
WITH sets AS (
    DELETE FROM overlay_sets WHERE at < @before
), cleared AS (
    DELETE FROM overlay_signals WHERE market_id IS NULL AND updated_at < @before
)
DELETE FROM live_samples WHERE minute < @before;

-- name: GetSessionViewers :one
-- Returns the sum of viewers over all samples of a session, and the number of samples.
SELECT coalesce(sum(viewers), 0)::bigint AS viewers, coalesce(sum(samples), 0)::bigint AS samples
FROM live_samples
WHERE session_id = @session_id;

-- name: GetActivity :one
-- Returns the activity in a period: clips of an operator, views of these clips, and new followers.
SELECT
    (SELECT count(*)
        FROM clips c WHERE c.handle = @handle AND c.status = 'ready' AND c.created_at BETWEEN @first AND @last) AS clips,
    (SELECT coalesce(sum(c.views), 0)::bigint
        FROM clips c WHERE c.handle = @handle AND c.status = 'ready' AND c.created_at BETWEEN @first AND @last) AS clip_views,
    (SELECT count(*) FROM follows f WHERE f.followed = @followed AND f.created_at BETWEEN @first AND @last) AS followers;

-- name: GetAiredTime :one
-- Returns the number of sessions of an operator since a time, their total length in seconds, and their samples.
WITH went AS (
    SELECT id, greatest(started_at, @since::timestamptz) AS from_at,
        least(coalesce(ended_at, last_beat + interval '45 seconds'), @now::timestamptz) AS to_at
    FROM live_sessions
    WHERE handle = @handle AND coalesce(ended_at, @now::timestamptz) > @since::timestamptz
), seen AS (
    SELECT sum(m.viewers)::bigint AS viewers, sum(m.samples)::bigint AS samples, max(m.peak)::integer AS peak
    FROM live_samples m
    WHERE m.session_id IN (SELECT went.id FROM went) AND m.minute >= date_trunc('minute', @since::timestamptz)
)
SELECT count(*) AS sessions, coalesce(extract(epoch FROM sum(greatest(to_at - from_at, interval '0'))), 0)::bigint AS seconds,
    coalesce((SELECT seen.peak FROM seen), 0)::integer AS peak, coalesce((SELECT seen.viewers FROM seen), 0)::bigint AS viewers,
    coalesce((SELECT seen.samples FROM seen), 0)::bigint AS samples
FROM went;

-- name: ListViewers :many
-- Returns the mean number of viewers per step of a given length, newest step first.
SELECT
    to_timestamp(floor(extract(epoch FROM m.minute) / sqlc.arg(seconds)::integer) * sqlc.arg(seconds)::integer)::timestamptz
        AS step,
    round(sum(m.viewers)::numeric / sum(m.samples))::bigint AS viewers
FROM live_samples m JOIN live_sessions s ON s.id = m.session_id
WHERE s.handle = @handle AND m.minute >= @since
GROUP BY step
ORDER BY step DESC
LIMIT @max_rows;
