UPDATE stations SET deleted_at = $2, updated_at = $2 WHERE station_id = $1
