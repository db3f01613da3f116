-- name: InsertAppToken :exec
-- Stores an access token of an app, and deletes tokens that expired at least an hour ago. A revocation that arrived first remains.
WITH expired AS (
    DELETE FROM app_tokens WHERE expires_at < sqlc.arg(now)::timestamptz - interval '1 hour'
)
INSERT INTO app_tokens (hash, grant_id, expires_at) VALUES (@hash, @grant_id, @expires_at)
ON CONFLICT (hash) DO NOTHING;

-- name: RevokeAppToken :exec
UPDATE app_tokens SET revoked_at = @revoked_at::timestamptz WHERE hash = @hash AND revoked_at IS NULL;

-- name: RevokeAppTokensOfGrant :exec
UPDATE app_tokens SET revoked_at = @revoked_at::timestamptz WHERE grant_id = @grant_id AND revoked_at IS NULL;

-- name: GetAppToken :one
SELECT grant_id, expires_at, revoked_at FROM app_tokens WHERE hash = @hash;
