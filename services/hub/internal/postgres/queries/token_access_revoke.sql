UPDATE access_tokens SET revoked_at = $2 WHERE hash = $1 AND revoked_at IS NULL
