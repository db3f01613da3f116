-- name: GetStreamer :one
SELECT status, lanes FROM streamer_profiles WHERE handle = @handle;

-- name: RegisterStreamer :one
-- Registers an operator as a streamer. Null keeps its lanes. Returns no row if the operator was registered before.
INSERT INTO streamer_profiles AS p (handle, status, lanes, registered_at, updated_at)
VALUES (@handle, 'pending', coalesce(sqlc.narg(lanes)::text[], '{}'), @now::timestamptz, @now::timestamptz)
ON CONFLICT (handle) DO UPDATE SET
    status = 'pending', lanes = coalesce(sqlc.narg(lanes)::text[], p.lanes), registered_at = @now::timestamptz,
    updated_at = @now::timestamptz
WHERE p.status = 'none'
RETURNING status;

-- name: UpsertLanes :exec
INSERT INTO streamer_profiles (handle, lanes, updated_at) VALUES (@handle, @lanes, @now)
ON CONFLICT (handle) DO UPDATE SET lanes = excluded.lanes, updated_at = excluded.updated_at;

-- name: UpsertStreamerStatus :exec
INSERT INTO streamer_profiles (handle, status, decided_at, updated_at)
VALUES (@handle, @status, @now::timestamptz, @now::timestamptz)
ON CONFLICT (handle) DO UPDATE SET status = excluded.status, decided_at = excluded.decided_at, updated_at = excluded.updated_at;

-- name: HideStreamer :execrows
-- Stores whether a profile is hidden. Returns 0 if nothing changes. The overlay signal gets a new time, because clients
-- keep only the newest snapshot.
WITH renewed AS (
    UPDATE overlay_signals o SET updated_at = greatest(@now, o.updated_at + interval '1 microsecond') WHERE o.handle = @handle
)
INSERT INTO streamer_profiles (handle, hidden, updated_at) VALUES (@handle, @hidden, @now)
ON CONFLICT (handle) DO UPDATE SET hidden = excluded.hidden, updated_at = excluded.updated_at
WHERE streamer_profiles.hidden <> excluded.hidden;

-- name: ListShown :many
-- Returns those of the operators that public screens show: approved and not withheld.
SELECT handle::text AS handle
FROM streamer_profiles
WHERE handle = ANY (@handles::text[]) AND status = 'approved' AND NOT withheld;

-- name: ListWithheldMedia :many
-- Returns media that must not be served: handles of withheld operators and ids of their clips.
SELECT handle::text AS name FROM streamer_profiles WHERE withheld
UNION ALL
SELECT c.id::text FROM clips c JOIN streamer_profiles p ON p.handle = c.handle WHERE c.status = 'ready' AND p.withheld;

-- name: InsertBroadcast :exec
INSERT INTO broadcasts (id, owner, title, market_id, station_id, lane, scheduled_for, state, created_at)
VALUES (@id, @owner, @title, @market_id, @station_id, @lane, @scheduled_for, 'scheduled', @created_at)
ON CONFLICT (id) DO NOTHING;

-- name: GetBroadcast :one
SELECT owner, title, coalesce(market_id, '') AS market_id, coalesce(station_id, '') AS station_id, coalesce(lane, '') AS lane,
    scheduled_for, created_at
FROM broadcasts
WHERE id = @id;

-- name: GetOverlay :one
SELECT market_id, name, yes_pct, slug, annotation, closes_at, updated_at
FROM shown_overlays WHERE handle = @handle AND market_id IS NOT NULL AND expires_at > @now;

-- name: IsOverlayExpired :one
-- Reports whether the overlay signal of an operator has expired. Returns no row if there is no signal.
SELECT (expires_at <= @now)::boolean AS expired FROM overlay_signals WHERE handle = @handle AND market_id IS NOT NULL;

-- name: UpsertOverlay :one
-- Replaces the overlay signal of an operator; a null market clears it. Returns the time of the signal, which never
-- decreases.
INSERT INTO overlay_signals AS o (handle, market_id, name, yes_pct, slug, annotation, closes_at, updated_at, expires_at)
VALUES (@handle, @market_id, @name, @yes_pct, @slug, @annotation, @closes_at, @updated_at, @expires_at)
ON CONFLICT (handle) DO UPDATE SET
    market_id = excluded.market_id, name = excluded.name, yes_pct = excluded.yes_pct, slug = excluded.slug,
    annotation = excluded.annotation, closes_at = excluded.closes_at, expires_at = excluded.expires_at,
    updated_at = greatest(excluded.updated_at, o.updated_at + interval '1 microsecond')
RETURNING updated_at;

-- name: ExtendOverlay :exec
-- Extends the overlay signal of an operator after a heartbeat.
UPDATE overlay_signals SET expires_at = greatest(expires_at, @expires_at)
WHERE handle = @handle AND market_id IS NOT NULL AND expires_at > @now;

-- name: ListExpiredOverlays :many
-- Returns operators whose overlay signal has expired.
SELECT handle FROM overlay_signals WHERE market_id IS NOT NULL AND expires_at <= @now ORDER BY expires_at LIMIT @max_rows;

-- name: InsertOverlaySet :exec
INSERT INTO overlay_sets (handle, at) VALUES (@handle, @at);

-- name: CountOverlaySets :one
SELECT count(*) FROM overlay_sets WHERE handle = @handle AND at >= @since;

-- name: PublishOverlay :exec
-- Publishes the overlay signal of an operator to the channels of the overlay and of the operator.
INSERT INTO outbox (type, at, handle, topic, data)
SELECT 'overlay.updated', o.updated_at, o.handle, 'overlay:' || o.handle, CASE
    WHEN o.market_id IS NULL OR o.expires_at <= @now THEN '{"marketId":null}'
    ELSE (jsonb_strip_nulls(jsonb_build_object(
        'marketId', o.market_id, 'name', o.name, 'streamerId', o.handle, 'updatedAt', stamp(o.updated_at),
        'annotation', o.annotation, 'closesAt', stamp(o.closes_at)))
        || jsonb_build_object('yesPct', o.yes_pct, 'slug', o.slug))::text
    END
FROM shown_overlays o WHERE o.handle = @handle;
