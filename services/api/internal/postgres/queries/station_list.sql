-- Active stations behind an id: $2 lane and $3 provider, empty for all; one that names
-- none has them all.
SELECT s.station_id, s.user_id, u.handle, s.name, s.url, s.origin_url, coalesce(s.description, ''), s.lanes, s.providers, coalesce(s.tapes_url, ''), coalesce(s.operators_url, ''), s.status, s.last_seen_at, s.created_at, s.updated_at
FROM stations s JOIN users u ON u.id = s.user_id
WHERE s.status = 'active' AND s.deleted_at IS NULL AND s.station_id > $1
  AND ($2 = '' OR s.lanes = '{}' OR $2 = ANY (s.lanes))
  AND ($3 = '' OR s.providers = '{}' OR $3 = ANY (s.providers))
ORDER BY s.station_id
LIMIT $4
