-- name: InsertRequest :exec
INSERT INTO auth_requests (
    hash, session_hash, user_id, app_id, redirect_uri, scopes, state, challenge, resource, renew, created_at, expires_at
) VALUES (
    @hash, @session_hash, @user_id, @app_id, @redirect_uri, @scopes, @state, @challenge, @resource, @renew, @created_at,
    @expires_at
);

-- name: TakeRequest :one
-- Deletes and returns a request, so that it is decided once. The user and the session must be those that created it.
DELETE FROM auth_requests WHERE hash = @hash AND session_hash = @session_hash AND user_id = @user_id
RETURNING app_id, redirect_uri, scopes, state, challenge, resource, renew, created_at, expires_at;

-- name: InsertCode :exec
INSERT INTO auth_codes (
    hash, app_id, user_id, redirect_uri, scopes, challenge, resource, grant_id, consented, created_at, expires_at
) VALUES (
    @hash, @app_id, @user_id, @redirect_uri, @scopes, @challenge, @resource, @grant_id, @consented, @created_at, @expires_at
);

-- name: LockCode :one
-- Locks a code. Concurrent attempts are serialized, and each sees the changes of the previous one.
SELECT app_id, user_id, redirect_uri, scopes, challenge, resource, grant_id, consented, created_at, expires_at, used_at, redeemed
FROM auth_codes WHERE hash = @hash FOR NO KEY UPDATE;

-- name: UseCode :exec
-- Marks a code as used. Without a grant the code was used up by a failed attempt.
UPDATE auth_codes
SET used_at = @now::timestamptz, grant_id = coalesce(sqlc.narg(redeemed_grant)::uuid, grant_id),
    redeemed = sqlc.narg(redeemed_grant)::uuid IS NOT NULL
WHERE hash = @hash AND used_at IS NULL;

-- name: InsertGrant :exec
INSERT INTO grants (id, user_id, app_id, scopes, resource, created_at, expires_at)
VALUES (@id, @user_id, @app_id, @scopes, @resource, @created_at, @expires_at);

-- name: GetGrant :one
SELECT sqlc.embed(g) FROM grants g WHERE g.id = @id;

-- name: LockGrant :one
SELECT sqlc.embed(g) FROM grants g WHERE g.id = @id FOR NO KEY UPDATE;

-- name: FindGrants :many
-- Returns at most 100 active grants of a user to an app, newest first.
SELECT sqlc.embed(g)
FROM grants g
WHERE g.user_id = @user_id AND g.app_id = @app_id AND g.revoked_at IS NULL AND g.expires_at > @now
ORDER BY g.created_at DESC, g.id DESC
LIMIT 100;

-- name: ListGrants :many
-- Returns at most 200 grants of a user, or one of them, with apps and active signers. Active grants come first.
SELECT sqlc.embed(g), a.name, a.logo_url,
    ARRAY(
        SELECT s.public_key FROM signers s
        WHERE s.grant_id = g.id AND s.revoked_at IS NULL AND (s.expires_at IS NULL OR s.expires_at > @now::timestamptz)
        ORDER BY s.created_at, s.public_key
    )::text[] AS signers
FROM grants g JOIN apps a ON a.id = g.app_id
WHERE g.user_id = @user_id AND (sqlc.narg(grant_id)::uuid IS NULL OR g.id = sqlc.narg(grant_id)::uuid)
ORDER BY g.revoked_at IS NULL AND g.expires_at > @now DESC, g.created_at DESC, g.id DESC
LIMIT 200;

-- name: ExtendGrant :exec
UPDATE grants SET expires_at = @expires_at WHERE id = @id AND revoked_at IS NULL;

-- name: TouchGrant :exec
-- Records the use of a grant, at most once per interval.
UPDATE grants SET last_used_at = @now::timestamptz
WHERE id = @id AND revoked_at IS NULL
    AND (last_used_at IS NULL OR last_used_at <= sqlc.arg(now)::timestamptz - sqlc.arg(every)::interval);

-- name: RevokeGrant :execrows
-- Revokes a grant, and sends the revocation to the ledger. A null user matches any user. Repeating it changes nothing.
WITH sent AS (
    INSERT INTO outbox (type, at, data)
    SELECT 'grant.revoked', @now::timestamptz, g.id::text FROM grants AS g
    WHERE g.id = @id AND (sqlc.narg(user_id)::uuid IS NULL OR g.user_id = sqlc.narg(user_id)::uuid) AND g.revoked_at IS NULL
)
UPDATE grants AS u SET revoked_at = coalesce(u.revoked_at, @now::timestamptz), revoked_by = coalesce(u.revoked_by, @revoked_by::text)
WHERE u.id = @id AND (sqlc.narg(user_id)::uuid IS NULL OR u.user_id = sqlc.narg(user_id)::uuid);

-- name: RevokeGrantsOfApp :many
-- Revokes the grants of an app, and sends the revocations to the ledger.
WITH sent AS (
    INSERT INTO outbox (type, at, data)
    SELECT 'grant.revoked', @now::timestamptz, g.id::text FROM grants AS g WHERE g.app_id = @app_id AND g.revoked_at IS NULL
)
UPDATE grants AS u SET revoked_at = @now::timestamptz, revoked_by = 'app_disabled'
WHERE u.app_id = @app_id AND u.revoked_at IS NULL
RETURNING u.id;

-- name: ListGrantsWithSigners :many
-- Returns those grants that have signers. It must run after the grants are locked and as a separate statement, so that
-- it sees a signer whose registration locked the grant and committed during the wait.
SELECT DISTINCT grant_id::text AS grant_id
FROM signers
WHERE grant_id = ANY (@grant_ids::uuid[]) AND revoked_at IS NULL
ORDER BY 1;

-- name: DeleteExpired :one
-- Deletes rows that expired at least an hour ago and returns their number. A redeemed code remains while its grant is
-- active, because its replay revokes the grant. A used refresh token remains until it would have expired.
WITH requests AS (
    DELETE FROM auth_requests WHERE expires_at < sqlc.arg(now)::timestamptz - interval '1 hour' RETURNING 1
), codes AS (
    DELETE FROM auth_codes c
    WHERE c.expires_at < sqlc.arg(now)::timestamptz - interval '1 hour' AND NOT (c.redeemed AND EXISTS (
        SELECT FROM grants g WHERE g.id = c.grant_id AND g.revoked_at IS NULL AND g.expires_at > sqlc.arg(now)::timestamptz))
    RETURNING 1
), access AS (
    DELETE FROM access_tokens WHERE expires_at < sqlc.arg(now)::timestamptz - interval '1 hour' RETURNING 1
), refresh AS (
    DELETE FROM refresh_tokens WHERE expires_at < sqlc.arg(now)::timestamptz - interval '1 hour' RETURNING 1
)
SELECT ((SELECT count(*) FROM requests) + (SELECT count(*) FROM codes)
    + (SELECT count(*) FROM access) + (SELECT count(*) FROM refresh))::bigint AS deleted;

-- name: InsertAccessToken :exec
-- Stores a token, and sends its hash, its grant and its expiry to the ledger, which accepts it on public reads.
WITH sent AS (
    INSERT INTO outbox (type, at, topic, data)
    VALUES ('token.issued', @expires_at, encode(@hash::bytea, 'hex'), (@grant_id::uuid)::text)
)
INSERT INTO access_tokens (hash, grant_id, scopes, created_at, expires_at)
VALUES (@hash, @grant_id, @scopes, @created_at, @expires_at);

-- name: InsertRefreshToken :exec
INSERT INTO refresh_tokens (hash, grant_id, scopes, created_at, expires_at)
VALUES (@hash, @grant_id, @scopes, @created_at, @expires_at);

-- name: GetAccessToken :one
SELECT t.grant_id, t.scopes, t.created_at, t.expires_at, t.revoked_at AS ended_at, sqlc.embed(g), a.kind, a.scopes AS app_scopes,
    a.disabled_at
FROM access_tokens t JOIN grants g ON g.id = t.grant_id JOIN apps a ON a.id = g.app_id
WHERE t.hash = @hash;

-- name: UseAccessToken :one
-- Returns a token and records its use, at most once per interval. It skips the record if another transaction has locked
-- the grant.
WITH used AS (
    UPDATE grants SET last_used_at = @now::timestamptz WHERE grants.id IN (
        SELECT ug.id FROM access_tokens ut JOIN grants ug ON ug.id = ut.grant_id
        WHERE ut.hash = @hash AND ut.revoked_at IS NULL AND ut.expires_at > @now
            AND ug.revoked_at IS NULL AND ug.expires_at > @now
            AND (ug.last_used_at IS NULL OR ug.last_used_at <= sqlc.arg(now)::timestamptz - sqlc.arg(every)::interval)
        FOR NO KEY UPDATE OF ug SKIP LOCKED)
)
SELECT t.grant_id, t.scopes, t.created_at, t.expires_at, t.revoked_at AS ended_at, sqlc.embed(g), a.kind, a.scopes AS app_scopes,
    a.disabled_at
FROM access_tokens t JOIN grants g ON g.id = t.grant_id JOIN apps a ON a.id = g.app_id
WHERE t.hash = @hash;

-- name: RevokeAccessToken :exec
-- Revokes a token, and sends the revocation to the ledger.
WITH sent AS (
    INSERT INTO outbox (type, at, topic, data)
    SELECT 'token.revoked', @now::timestamptz, encode(t.hash, 'hex'), t.grant_id::text FROM access_tokens AS t
    WHERE t.hash = @hash AND t.revoked_at IS NULL
)
UPDATE access_tokens AS u SET revoked_at = @now::timestamptz WHERE u.hash = @hash AND u.revoked_at IS NULL;

-- name: LockRefreshToken :one
-- Locks a refresh token. Concurrent attempts are serialized, and the next statement sees the changes of the previous
-- attempt.
SELECT successor_hash FROM refresh_tokens WHERE hash = @hash FOR NO KEY UPDATE;

-- name: GetRefreshToken :one
SELECT t.grant_id, t.scopes, t.created_at, t.expires_at, t.used_at AS ended_at, sqlc.embed(g), a.kind, a.scopes AS app_scopes,
    a.disabled_at
FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id JOIN apps a ON a.id = g.app_id
WHERE t.hash = @hash;

-- name: RotateRefreshToken :exec
UPDATE refresh_tokens SET used_at = @now::timestamptz, successor_hash = @successor_hash WHERE hash = @hash AND used_at IS NULL;
