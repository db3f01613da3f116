INSERT INTO grants (id, user_id, app_id, scopes, resource, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
