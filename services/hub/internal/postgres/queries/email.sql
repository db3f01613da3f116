-- name: GetEmail :one
SELECT address, confirmed_at, pending, digest, bounced_at FROM email_addresses WHERE user_id = @user_id;

-- name: UpsertEmail :exec
-- Stores an address of a user that waits for its confirmation. A confirmed address remains until then.
INSERT INTO email_addresses AS a (user_id, address, digest, digest_from) VALUES (@user_id, @address::text, @digest, @now::timestamptz)
ON CONFLICT (user_id) DO UPDATE SET
    address = CASE WHEN a.confirmed_at IS NULL THEN excluded.address ELSE a.address END,
    pending = CASE WHEN a.confirmed_at IS NOT NULL THEN excluded.address END,
    pending_until = CASE WHEN a.confirmed_at IS NOT NULL THEN @until::timestamptz END,
    bounces = CASE WHEN a.confirmed_at IS NULL THEN 0 ELSE a.bounces END,
    token_hash = NULL, token_until = NULL, digest = excluded.digest, bounced_at = NULL,
    digest_from = CASE WHEN a.confirmed_at IS NULL OR a.digest = 'off' THEN excluded.digest_from ELSE a.digest_from END;

-- name: LockConfirmedEmail :one
SELECT address::text AS address FROM email_addresses WHERE user_id = @user_id AND confirmed_at IS NOT NULL FOR UPDATE;

-- name: UpsertConfirmedEmail :exec
-- Replaces the addresses of a user by a confirmed one.
INSERT INTO email_addresses AS a (user_id, address, digest, digest_from, confirmed_at)
VALUES (@user_id, @address::text, @digest, @now::timestamptz, @now::timestamptz)
ON CONFLICT (user_id) DO UPDATE SET
    address = excluded.address, confirmed_at = excluded.confirmed_at, pending = NULL, pending_until = NULL,
    token_hash = NULL, token_until = NULL, digest = excluded.digest, digest_from = excluded.digest_from, bounces = 0, bounced_at = NULL;

-- name: ListSignInEmails :many
-- Returns the addresses of the active sessions of a user, the newest session first.
SELECT issued_at, email::text AS email FROM sessions
WHERE user_id = @user_id AND ended_at IS NULL AND email IS NOT NULL ORDER BY issued_at DESC;

-- name: DeleteEmailMessagesOf :exec
DELETE FROM email_messages WHERE user_id = @user_id AND kind = ANY (@kinds::text[]);

-- name: InsertConfirmation :exec
INSERT INTO email_messages (id, user_id, kind, created_at, due_at) VALUES (@id, @user_id, 'confirmation', @now, @now);

-- name: InsertReplaced :exec
INSERT INTO email_messages (id, user_id, kind, address, created_at, due_at) VALUES (@id, @user_id, 'replaced', @address::text, @now, @now);

-- name: SetDigest :exec
-- A digest that was off starts now.
UPDATE email_addresses SET digest = @digest, digest_from = CASE WHEN digest = 'off' THEN @now::timestamptz ELSE digest_from END
WHERE user_id = @user_id AND address IS NOT NULL;

-- name: DeleteEmail :exec
DELETE FROM email_addresses WHERE user_id = @user_id;

-- name: HasEmailToken :one
SELECT EXISTS (SELECT FROM email_addresses WHERE token_hash = @token_hash::bytea AND token_until > @now::timestamptz);

-- name: ConfirmEmail :one
-- Confirms the address of a token, once, and returns the confirmed address that it replaced; empty: none. The first address starts
-- the digests.
WITH was AS (
    SELECT user_id, CASE WHEN confirmed_at IS NOT NULL THEN address END AS former FROM email_addresses
    WHERE token_hash = @token_hash::bytea AND token_until > @now::timestamptz FOR UPDATE
)
UPDATE email_addresses a SET
    address = coalesce(a.pending, a.address), confirmed_at = @now::timestamptz, pending = NULL, pending_until = NULL, bounces = 0,
    token_hash = NULL, token_until = NULL, digest_from = CASE WHEN a.confirmed_at IS NULL THEN @now::timestamptz ELSE a.digest_from END
FROM was WHERE a.user_id = was.user_id
RETURNING a.user_id, coalesce(was.former, '')::text AS former;

-- name: SetEmailToken :execrows
-- Stores the token of a confirmation, unless the user has entered another address or confirmed this one.
UPDATE email_addresses SET
    token_hash = @token_hash::bytea, token_until = @until::timestamptz,
    pending_until = CASE WHEN pending IS NOT NULL THEN @until::timestamptz END
WHERE user_id = @user_id AND CASE WHEN confirmed_at IS NULL THEN address ELSE pending END = @address::text;

-- name: QueueDigests :execrows
-- Ends the period of digests at a time for up to @most users, and lets a digest wait for those with notifications in the period.
WITH due AS (
    SELECT a.user_id, a.digest_from FROM email_addresses a
    WHERE a.digest = @digest AND a.digest_from < @until_at AND a.confirmed_at IS NOT NULL
    ORDER BY a.digest_from LIMIT sqlc.arg(most)::integer FOR NO KEY UPDATE
), letters AS (
    INSERT INTO email_messages (id, user_id, kind, from_at, until_at, created_at, due_at)
    SELECT gen_random_uuid(), d.user_id, 'digest', d.digest_from, @until_at, @now::timestamptz, @now::timestamptz
    FROM due d WHERE EXISTS (
        SELECT FROM notifications n WHERE n.user_id = d.user_id AND n.kind = ANY (@kinds::text[])
            AND n.created_at >= d.digest_from AND n.created_at < @until_at)
    ON CONFLICT DO NOTHING
)
UPDATE email_addresses u SET digest_from = @until_at FROM due d WHERE u.user_id = d.user_id;

-- name: ListEmailMessages :many
SELECT m.id, m.user_id, m.kind, m.from_at, m.until_at, m.attempts, r.address::text AS address,
    coalesce(n.kind, '')::text AS notice, coalesce(n.reason, '')::text AS reason
FROM email_messages m
JOIN email_addresses a ON a.user_id = m.user_id
CROSS JOIN LATERAL (
    SELECT CASE m.kind WHEN 'confirmation' THEN coalesce(a.pending, a.address) WHEN 'replaced' THEN m.address ELSE a.address END AS address
) r
LEFT JOIN notifications n ON n.id = m.notification_id
WHERE m.due_at <= @now AND r.address IS NOT NULL
ORDER BY m.due_at LIMIT sqlc.arg('limit');

-- name: ListDigestEntries :many
-- Returns the notifications of some kinds in a period, the newest first.
SELECT id, kind, handle, market_id, signal_id, status, score, reason, count, created_at FROM notifications
WHERE user_id = @user_id AND kind = ANY (@kinds::text[]) AND created_at >= @from_at AND created_at < @until_at
ORDER BY created_at DESC, id DESC LIMIT sqlc.arg('limit');

-- name: ReserveEmailMessage :execrows
-- Counts an attempt. Changes nothing if another process has counted it. The message is due again at a time.
UPDATE email_messages SET attempts = attempts + 1, due_at = @due WHERE id = @id AND attempts = @attempts;

-- name: DelayEmailMessage :exec
UPDATE email_messages SET due_at = @due WHERE id = @id;

-- name: DeleteEmailMessage :exec
DELETE FROM email_messages WHERE id = @id;

-- name: DeleteOldEmailMessages :exec
DELETE FROM email_messages WHERE created_at < @oldest;

-- name: DeleteOldPending :exec
-- Deletes the pending addresses whose link has expired.
UPDATE email_addresses SET pending = NULL, pending_until = NULL, token_hash = NULL, token_until = NULL
WHERE pending_until <= @now::timestamptz;

-- name: DeletePending :execrows
-- Deletes a pending address that was refused.
UPDATE email_addresses SET pending = NULL, pending_until = NULL, token_hash = NULL, token_until = NULL
WHERE user_id = @user_id AND pending = @address::text;

-- name: ResetBounces :exec
UPDATE email_addresses SET bounces = 0 WHERE user_id = @user_id AND address = @address::text AND bounces > 0;

-- name: CountBounce :one
-- Counts a refusal of an address, and returns the number of consecutive ones.
UPDATE email_addresses SET bounces = bounces + 1 WHERE user_id = @user_id AND address = @address::text RETURNING bounces;

-- name: DeleteRefused :exec
-- Deletes an address that was refused. A pending address then waits in its place.
UPDATE email_addresses SET
    address = pending, pending = NULL, pending_until = NULL, confirmed_at = NULL, bounces = 0,
    token_hash = CASE WHEN pending IS NOT NULL THEN token_hash END, token_until = CASE WHEN pending IS NOT NULL THEN token_until END,
    digest = CASE WHEN pending IS NULL THEN 'off' ELSE digest END, bounced_at = CASE WHEN pending IS NULL THEN @now::timestamptz END
WHERE user_id = @user_id AND address = @address::text;
