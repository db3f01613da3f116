UPDATE stations SET last_seen_at = $3 WHERE station_id = $1 AND user_id = $2 AND deleted_at IS NULL
