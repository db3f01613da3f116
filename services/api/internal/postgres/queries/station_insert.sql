-- Nothing is written where the id is somebody's: of a station that was ended it is its owner's.
INSERT INTO stations AS s (station_id, user_id, name, url, origin_url, description, lanes, providers, tapes_url, operators_url, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, nullif($6, ''), $7, $8, nullif($9, ''), nullif($10, ''), $11, $11)
ON CONFLICT (station_id) DO UPDATE SET name = excluded.name, url = excluded.url, origin_url = excluded.origin_url, description = excluded.description,
    lanes = excluded.lanes, providers = excluded.providers, tapes_url = excluded.tapes_url, operators_url = excluded.operators_url,
    status = excluded.status, last_seen_at = NULL, created_at = excluded.created_at, updated_at = excluded.updated_at, deleted_at = NULL
WHERE s.user_id = excluded.user_id AND s.deleted_at IS NOT NULL
