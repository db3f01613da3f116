-- name: LockClips :exec
-- Serializes requests for clips of one creator or of one stream. The name is by:<handle> or of:<handle>.
SELECT pg_advisory_xact_lock(7203, hashtext(@name::text));

-- name: CountClipsOfDay :one
-- Returns the data for the limits of clips: the number of clips of the day by the creator and of the stream, and the
-- time of the newest of both. The time is in year 1 if there is none.
SELECT
    (SELECT count(*) FROM clips c WHERE c.created_by = @created_by AND c.created_at >= @day) AS by_maker,
    (SELECT count(*) FROM clips c WHERE c.handle = @handle AND c.created_at >= @day) AS of_stream,
    coalesce(greatest(
        (SELECT max(c.created_at) FROM clips c WHERE c.created_by = @created_by),
        (SELECT max(c.created_at) FROM clips c WHERE c.handle = @handle)
    ), '0001-01-01Z')::timestamptz AS newest;

-- name: InsertClip :exec
INSERT INTO clips (id, handle, market_id, show_id, title, stance, status, created_by, created_at, source, source_url, source_id)
VALUES (@id, @handle, nullif(@market_id::text, ''), @show_id, @title, @stance, 'processing', @created_by, @created_at,
    @source, nullif(@source_url::text, ''), nullif(@source_id::text, ''));

-- name: ClaimClip :one
-- Leases the oldest clip of these sources that waits for processing.
UPDATE clips SET lease_until = @lease_until::timestamptz, tries = tries + 1
WHERE id = (
    SELECT w.id FROM clips w
    WHERE w.status = 'processing' AND w.source = ANY (@sources::text[]) AND (w.lease_until IS NULL OR w.lease_until <= @now::timestamptz)
    ORDER BY w.created_at LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING id, handle, created_at, tries, source, coalesce(source_url, '') AS source_url, coalesce(source_id, '') AS source_id,
    coalesce(host_clip_id, '') AS host_clip_id;

-- name: AwaitClip :exec
-- Stores the id of a clip at its video host. The clip can be leased again at lease_until, and this attempt does not count.
UPDATE clips SET host_clip_id = @host_clip_id::text, lease_until = @lease_until::timestamptz, tries = greatest(tries - 1, 0)
WHERE id = @id AND status = 'processing';

-- name: FinishClip :exec
-- Marks a clip as ready and publishes it. Clips of a suspended operator are not published.
WITH done AS (
    UPDATE clips
    SET status = 'ready', url = @url::text, thumbnail_url = nullif(@thumbnail_url::text, ''), duration_s = @duration_s::integer,
        ready_at = @now::timestamptz, lease_until = NULL
    WHERE clips.id = @id AND clips.status = 'processing'
    RETURNING id, handle, market_id, url, thumbnail_url, duration_s, status, stance, views, boosted, created_by, created_at,
        ready_at, title
)
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT 'clip.ready', done.ready_at, done.market_id, done.handle, (jsonb_build_object(
    'id', done.id, 'handle', done.handle, 'marketId', done.market_id, 'url', done.url, 'thumbnailUrl', done.thumbnail_url,
    'durationS', done.duration_s, 'status', done.status, 'stance', done.stance, 'views', done.views, 'boosted', done.boosted,
    'createdBy', done.created_by,
    'createdAt', to_char(done.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'readyAt', to_char(done.ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) || CASE WHEN done.title IS NULL THEN '{}' ELSE jsonb_build_object('title', done.title) END)::text
FROM done
WHERE NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = done.handle AND p.status = 'suspended');

-- name: FailClip :exec
UPDATE clips SET status = 'failed', reason = @reason::text, lease_until = NULL WHERE id = @id AND status = 'processing';

-- name: BoostClip :execrows
UPDATE clips SET boosted = @boosted WHERE id = @id AND status = 'ready';

-- name: DropClip :exec
-- Records that the files of a clip are deleted.
UPDATE clips SET status = 'dropped', url = NULL, thumbnail_url = NULL WHERE id = @id AND status IN ('ready', 'processing');

-- name: ListClips :many
-- Returns the ready clips of a market, newest first.
SELECT c.id, c.handle, c.url, c.thumbnail_url, c.duration_s, c.status, c.stance,
    (c.views + coalesce(v.views, 0))::bigint AS views, c.boosted, c.created_by, c.created_at, c.ready_at,
    coalesce(c.title, '') AS title
FROM clips c
LEFT JOIN tape_views v ON v.origin = 'hub' AND v.tape_id = c.id::text
WHERE c.market_id = @market_id AND c.status = 'ready'
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = c.handle AND p.withheld)
ORDER BY c.created_at DESC, c.id DESC
LIMIT @max_rows;

-- name: ListSessionClips :many
-- Returns the ready clips of a session of an operator, newest first.
SELECT c.id, c.url, c.duration_s, c.created_by, c.created_at
FROM clips c
WHERE c.handle = @handle AND c.show_id = @show_id::text AND c.status = 'ready'
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = c.handle AND p.withheld)
ORDER BY c.created_at DESC, c.id DESC
LIMIT @max_rows;

-- name: GetClip :one
-- Returns a ready clip of an operator who is shown.
SELECT c.id, c.handle, coalesce(c.market_id, '')::text AS market_id, c.url, c.thumbnail_url, c.duration_s, c.status, c.stance,
    (c.views + coalesce(v.views, 0))::bigint AS views, c.boosted, c.created_by, c.created_at, c.ready_at,
    coalesce(c.title, '') AS title
FROM clips c
LEFT JOIN tape_views v ON v.origin = 'hub' AND v.tape_id = c.id::text
WHERE c.id = @id AND c.status = 'ready'
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = c.handle AND p.withheld);

-- name: CountClips :many
-- Returns the number of ready clips of each market.
SELECT c.market_id::text AS market_id, count(*) AS clips
FROM clips c
WHERE c.market_id = ANY (@market_ids::text[]) AND c.status = 'ready'
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = c.handle AND p.withheld)
GROUP BY c.market_id;

-- name: ListUnreportedTapes :many
-- Returns the numbers of ready clips of markets that differ from the reported ones or were reported at or before @repeat.
SELECT coalesce(c.market_id, r.market_id)::text AS market_id, coalesce(c.clips, 0)::bigint AS tapes
FROM (
    SELECT k.market_id, count(*) AS clips
    FROM clips k
    WHERE k.status = 'ready' AND k.market_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = k.handle AND p.withheld)
    GROUP BY k.market_id
) c
FULL JOIN tape_reports r ON r.market_id = c.market_id
WHERE c.clips IS DISTINCT FROM r.tapes OR r.at <= @repeat
ORDER BY 1
LIMIT @max_rows;

-- name: StoreTapeReports :exec
-- Stores the numbers of clips that the ledger has received. Market ids and numbers are parallel arrays.
WITH given AS (
    SELECT g.market_id, g.tapes FROM unnest(@market_ids::text[], @tapes::bigint[]) AS g (market_id, tapes)
), emptied AS (
    DELETE FROM tape_reports r USING given g WHERE r.market_id = g.market_id AND g.tapes = 0
)
INSERT INTO tape_reports (market_id, tapes, at) SELECT g.market_id, g.tapes, @at FROM given g WHERE g.tapes > 0
ON CONFLICT (market_id) DO UPDATE SET tapes = excluded.tapes, at = excluded.at;

-- name: ListTapes :many
-- Returns ready clips: boosted ones first, then newest first.
SELECT c.id, c.handle, c.url, coalesce(c.market_id, '') AS market_id, c.duration_s, c.views, c.stance, c.created_at, c.boosted,
    coalesce(p.status = 'approved', false)::boolean AS approved
FROM clips c
LEFT JOIN streamer_profiles p ON p.handle = c.handle
WHERE c.status = 'ready' AND p.withheld IS NOT TRUE
ORDER BY c.boosted DESC, c.created_at DESC, c.id DESC
LIMIT @max_rows;

-- name: ListTapeViews :many
-- Returns the number of views of each tape. Origins and ids are parallel arrays.
SELECT coalesce(v.views, 0) AS views
FROM unnest(@origins::text[], @tape_ids::text[]) WITH ORDINALITY AS g (origin, tape_id, n)
LEFT JOIN tape_views v ON v.origin = g.origin AND v.tape_id = g.tape_id
ORDER BY g.n;

-- name: AddTapeView :exec
INSERT INTO tape_views AS v (origin, tape_id, views) VALUES (@origin, @tape_id, 1)
ON CONFLICT (origin, tape_id) DO UPDATE SET views = v.views + 1;

-- name: UpsertPartnerCopy :exec
-- Stores a copy of a partner station's list. It does not replace a newer copy.
INSERT INTO partner_copies AS c (origin, kind, rows, at) VALUES (@origin, @kind, @rows, @at)
ON CONFLICT (origin, kind) DO UPDATE SET rows = excluded.rows, at = excluded.at WHERE c.at <= excluded.at;

-- name: ListPartnerCopies :many
SELECT rows AS list FROM partner_copies WHERE kind = @kind AND at >= @since ORDER BY origin;

-- name: ListPartnerTimes :many
-- Returns the time of the last successful read of each partner station.
SELECT origin, max(at)::timestamptz AS at FROM partner_copies GROUP BY origin;

-- name: DeletePartnerCopies :exec
-- Deletes copies of stations that are not in the list.
DELETE FROM partner_copies WHERE NOT origin = ANY (@origins::text[]);
