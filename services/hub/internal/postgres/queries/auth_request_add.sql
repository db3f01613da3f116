INSERT INTO auth_requests (hash, session_hash, user_id, app_id, redirect_uri, scopes, state, challenge, resource, renew, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
