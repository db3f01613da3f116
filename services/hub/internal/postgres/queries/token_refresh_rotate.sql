UPDATE refresh_tokens SET used_at = $2, successor_hash = $3 WHERE hash = $1 AND used_at IS NULL
