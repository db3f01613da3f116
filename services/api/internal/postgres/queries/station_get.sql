SELECT s.station_id, s.user_id, u.handle, s.name, s.url, s.origin_url, coalesce(s.description, ''), s.lanes, s.providers, coalesce(s.tapes_url, ''), coalesce(s.operators_url, ''), s.status, s.last_seen_at, s.created_at, s.updated_at
FROM stations s JOIN users u ON u.id = s.user_id
WHERE s.station_id = $1 AND s.deleted_at IS NULL
