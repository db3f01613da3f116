INSERT INTO auth_codes (hash, app_id, user_id, redirect_uri, scopes, challenge, resource, grant_id, consented, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
