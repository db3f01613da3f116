-- name: GetStation :one
-- Returns a station with the handle of its owner.
SELECT sqlc.embed(s), u.handle
FROM stations AS s JOIN users AS u ON u.id = s.user_id
WHERE s.station_id = @station_id AND s.deleted_at IS NULL;

-- name: LockStation :one
-- Returns a station with the handle of its owner and locks it for a change.
SELECT sqlc.embed(s), u.handle
FROM stations AS s JOIN users AS u ON u.id = s.user_id
WHERE s.station_id = @station_id AND s.deleted_at IS NULL
FOR NO KEY UPDATE OF s;

-- name: ListStations :many
-- Returns active stations after an id. An empty lane or provider selects all. A station without lanes or providers has
-- all of them.
SELECT sqlc.embed(s), u.handle
FROM stations AS s JOIN users AS u ON u.id = s.user_id
WHERE s.status = 'active' AND s.deleted_at IS NULL AND s.station_id > @after
    AND (@lane::text = '' OR s.lanes = '{}' OR @lane = ANY (s.lanes))
    AND (@provider::text = '' OR s.providers = '{}' OR @provider = ANY (s.providers))
ORDER BY s.station_id
LIMIT sqlc.arg('limit');

-- name: CountStations :one
-- Counts the stations of an operator.
SELECT count(*) FROM stations WHERE user_id = @user_id AND deleted_at IS NULL;

-- name: CountStationIDs :one
-- Counts the stations of an operator, and the ids other than @station_id that it has ever used.
SELECT count(*) FILTER (WHERE deleted_at IS NULL) AS owned, count(*) FILTER (WHERE station_id <> @station_id) AS ids
FROM stations
WHERE user_id = @user_id;

-- name: InsertStation :execrows
-- Stores a new station. It may reuse the id of a deleted station of the same owner. Changes nothing if the id is taken.
INSERT INTO stations AS s (station_id, user_id, name, url, origin_url, description, lanes, providers, tapes_url, operators_url,
    created_at, updated_at)
VALUES (@station_id, @user_id, @name, @url, @origin_url, nullif(@description::text, ''), @lanes, @providers,
    nullif(@tapes_url::text, ''), nullif(@operators_url::text, ''), @now, @now)
ON CONFLICT (station_id) DO UPDATE SET name = excluded.name, url = excluded.url, origin_url = excluded.origin_url,
    description = excluded.description, lanes = excluded.lanes, providers = excluded.providers, tapes_url = excluded.tapes_url,
    operators_url = excluded.operators_url, status = excluded.status, last_seen_at = NULL, created_at = excluded.created_at,
    updated_at = excluded.updated_at, deleted_at = NULL
WHERE s.user_id = excluded.user_id AND s.deleted_at IS NOT NULL;

-- name: UpdateStation :exec
-- Stores the changed members of a station.
UPDATE stations SET name = @name, url = @url, origin_url = @origin_url, description = nullif(@description::text, ''),
    lanes = @lanes,
    providers = @providers, tapes_url = nullif(@tapes_url::text, ''), operators_url = nullif(@operators_url::text, ''),
    status = @status, updated_at = @now
WHERE station_id = @station_id;

-- name: MarkStationSeen :execrows
-- Stores the time at which a station was reachable.
UPDATE stations SET last_seen_at = @now WHERE station_id = @station_id AND user_id = @user_id AND deleted_at IS NULL;

-- name: DeleteStation :exec
-- Deletes a station. Its id remains reserved for its owner.
UPDATE stations SET deleted_at = @now, updated_at = @now WHERE station_id = @station_id;
