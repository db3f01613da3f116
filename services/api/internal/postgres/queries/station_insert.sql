INSERT INTO stations (station_id, user_id, name, url, origin_url, description, lanes, providers, tapes_url, operators_url, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, nullif($6, ''), $7, $8, nullif($9, ''), nullif($10, ''), $11, $11)
