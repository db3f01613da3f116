INSERT INTO refresh_tokens (hash, grant_id, scopes, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
