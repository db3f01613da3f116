UPDATE grants SET revoked_at = $2, revoked_by = 'app_disabled'
WHERE app_id = $1 AND revoked_at IS NULL
RETURNING id
