UPDATE stations SET name = $2, url = $3, origin_url = $4, description = nullif($5, ''), lanes = $6, providers = $7,
    tapes_url = nullif($8, ''), operators_url = nullif($9, ''), status = $10, updated_at = $11
WHERE station_id = $1
