-- name: GetMessage :one
SELECT sqlc.embed(m) FROM messages m WHERE m.id = @id;

-- name: FindMessage :one
-- Returns the message with the id, or else the message of the key with the nonce.
SELECT sqlc.embed(m)
FROM messages m
WHERE m.id = @id OR m.public_key = @public_key AND m.nonce = @nonce
ORDER BY m.id = @id DESC
LIMIT 1;

-- name: GetMessageBySubject :one
SELECT sqlc.embed(m) FROM messages m WHERE m.subject = @subject::text;

-- name: ListMessages :many
-- Returns accepted messages before a position, newest first. The conditions on app and type are CASE expressions: with
-- OR, Postgres expects so few rows that it sorts all messages instead of reading the index in order.
SELECT sqlc.embed(m)
FROM messages m
WHERE m.status = 'accepted' AND m.received_at >= @since AND (m.received_at, m.id) < (@before_time::timestamptz, @before_id::text)
    AND CASE WHEN sqlc.narg(app_id)::text IS NULL THEN true ELSE m.app_id = sqlc.narg(app_id)::text END
    AND CASE WHEN sqlc.narg(type)::text IS NULL THEN true ELSE m.type = sqlc.narg(type)::text END
ORDER BY m.received_at DESC, m.id DESC
LIMIT @max_rows;

-- name: ListMessagesOfPassport :many
-- Returns accepted messages of a passport before a position, newest first. It is a separate statement because it uses
-- another index.
SELECT sqlc.embed(m)
FROM messages m
WHERE m.status = 'accepted' AND m.denpa_id = @denpa_id
    AND m.received_at >= @since AND (m.received_at, m.id) < (@before_time::timestamptz, @before_id::text)
    AND CASE WHEN sqlc.narg(app_id)::text IS NULL THEN true ELSE m.app_id = sqlc.narg(app_id)::text END
    AND CASE WHEN sqlc.narg(type)::text IS NULL THEN true ELSE m.type = sqlc.narg(type)::text END
ORDER BY m.received_at DESC, m.id DESC
LIMIT @max_rows;

-- name: ShareSigner :one
-- Locks a signer against revocation until the end of the transaction. A concurrent revocation waits, or was committed
-- and is visible here.
SELECT (revoked_at IS NOT NULL)::boolean AS revoked, coalesce(expires_at <= @now::timestamptz, false)::boolean AS expired
FROM signers
WHERE public_key = @public_key
FOR SHARE;

-- name: InsertPendingMessage :execrows
INSERT INTO messages (
    id, type, denpa_id, app_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at
) VALUES (
    @id, @type, @denpa_id, nullif(@app_id::text, ''), @public_key, @nonce, @body, false, 'pending', @attempt, @received_at,
    @received_at
)
ON CONFLICT DO NOTHING;

-- name: AcceptMessage :execrows
UPDATE messages SET status = 'accepted', accepted_at = @now::timestamptz, result = @result WHERE id = @id AND status = 'pending';

-- name: InsertAcceptedMessage :execrows
-- Stores a message that was deleted while its effect was being applied.
INSERT INTO messages (
    id, type, denpa_id, app_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at, accepted_at, result
) VALUES (
    @id, @type, @denpa_id, nullif(@app_id::text, ''), @public_key, @nonce, @body, false, 'accepted', @attempt, @received_at,
    @now::timestamptz, @now::timestamptz, @result
)
ON CONFLICT DO NOTHING;

-- name: InsertAttestedMessage :execrows
INSERT INTO messages (
    id, type, denpa_id, app_id, public_key, nonce, body, attested, subject, status, attempt, received_at, tried_at, accepted_at,
    result
) VALUES (
    @id, @type, @denpa_id, nullif(@app_id::text, ''), @public_key, @nonce, @body, true, nullif(@subject::text, ''), 'accepted',
    @attempt, @received_at::timestamptz, @received_at::timestamptz, @received_at::timestamptz, @result
)
ON CONFLICT DO NOTHING;

-- name: DeletePendingMessage :exec
DELETE FROM messages WHERE id = @id AND attempt = @attempt AND status = 'pending';

-- name: ClaimPendingMessages :many
-- Returns pending messages whose last attempt was before a time, and records a new attempt.
WITH left_over AS (
    SELECT p.id FROM messages p
    WHERE p.status = 'pending' AND p.tried_at <= @before
    ORDER BY p.tried_at
    LIMIT @max_rows
    FOR UPDATE SKIP LOCKED
)
UPDATE messages AS m SET tried_at = @now
FROM left_over AS l
WHERE m.id = l.id AND m.status = 'pending'
RETURNING sqlc.embed(m);

-- name: InsertChallenge :exec
-- Stores a challenge and deletes expired challenges of the passport.
WITH old AS (
    DELETE FROM signer_challenges WHERE signer_challenges.denpa_id = @denpa_id AND signer_challenges.expires_at <= @now
)
INSERT INTO signer_challenges (hash, public_key, denpa_id, app_id, expires_at)
VALUES (@hash, @public_key, @denpa_id, nullif(@app_id::text, ''), @expires_at);

-- name: UseChallenge :execrows
UPDATE signer_challenges SET used_at = @now::timestamptz
WHERE hash = @hash AND public_key = @public_key AND denpa_id = @denpa_id AND app_id IS NOT DISTINCT FROM nullif(@app_id::text, '')
    AND used_at IS NULL AND expires_at > @now::timestamptz;

-- name: LockSignersOfPassport :exec
-- Serializes the registrations of a passport and app until the end of the transaction, so that the count of signers is
-- exact.
SELECT pg_advisory_xact_lock(hashtextextended('signers of ' || @denpa_id::text || ' ' || @app_id::text, 0));

-- name: InsertSigner :execrows
INSERT INTO signers (public_key, denpa_id, app_id, grant_id, scopes, label, created_at, expires_at, key_id)
VALUES (@public_key, @denpa_id, @app_id, @grant_id, @scopes, @label, @created_at, @expires_at, @key_id)
ON CONFLICT (public_key) DO NOTHING;

-- name: CountSigners :one
SELECT count(*) FROM signers
WHERE denpa_id = @denpa_id AND app_id IS NOT DISTINCT FROM nullif(@app_id::text, '') AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > @now::timestamptz);

-- name: GetSigner :one
SELECT sqlc.embed(s) FROM signers s WHERE s.public_key = @public_key;

-- name: ListSigners :many
SELECT sqlc.embed(s) FROM signers s WHERE s.denpa_id = @denpa_id ORDER BY s.created_at DESC, s.public_key;

-- name: LockSigner :one
-- Locks a signer exclusively: it waits for messages that are being stored, and later ones wait until the end of the
-- transaction.
SELECT sqlc.embed(s) FROM signers s WHERE s.public_key = @public_key FOR UPDATE;

-- name: LockSignersOfGrant :many
SELECT public_key FROM signers WHERE grant_id = @grant_id::uuid AND revoked_at IS NULL ORDER BY public_key FOR UPDATE;

-- name: LockSignersOfKey :many
SELECT public_key FROM signers WHERE key_id = @key_id::uuid AND revoked_at IS NULL ORDER BY public_key FOR UPDATE;

-- name: RevokeSigner :one
-- Revokes a signer and returns the time, which is after every message of the signer even if the clock of another
-- process is ahead.
UPDATE signers SET revoked_by = @revoked_by::text, revoked_at = greatest(
    @now::timestamptz, (SELECT max(m.received_at) + interval '1 microsecond' FROM messages m WHERE m.public_key = @public_key))
WHERE public_key = @public_key
RETURNING revoked_at;

-- name: ListSignersRevokedWithKey :many
SELECT public_key FROM signers WHERE key_id = @key_id::uuid AND revoked_by = 'key' ORDER BY public_key;

-- name: ListSignerKeys :many
-- Returns a page of operator keys with active signers, after a key.
SELECT DISTINCT key_id::text AS key_id FROM signers
WHERE key_id > @after::uuid AND revoked_at IS NULL AND expires_at > @now::timestamptz
ORDER BY 1
LIMIT @max_rows;
