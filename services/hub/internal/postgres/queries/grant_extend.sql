UPDATE grants SET expires_at = $2 WHERE id = $1 AND revoked_at IS NULL
