-- name: InsertAuditEntry :exec
INSERT INTO audit_log (id, at, stage, actor, action, target, request_id, ip, code, detail)
VALUES (@id, @at, @stage, @actor, @action, @target, @request_id, @ip, @code, @detail);

-- name: DeleteAuditAddresses :exec
DELETE FROM audit_addresses WHERE at < @before;

-- name: ListOutbox :many
SELECT id AS row_id, event_id AS id, type, at, coalesce(market_id, '') AS market_id, coalesce(handle, '')::text AS handle,
    coalesce(topic, '') AS topic, data
FROM outbox
ORDER BY outbox.id
LIMIT @max_rows;

-- name: DeleteOutbox :exec
DELETE FROM outbox WHERE id = ANY (@ids::bigint[]);

-- name: InsertAttestation :exec
INSERT INTO attestations_due (subject, body, at) VALUES (@subject, @body, @at) ON CONFLICT (subject) DO NOTHING;

-- name: ListAttestations :many
SELECT subject, body, at FROM attestations_due WHERE at <= @before ORDER BY at LIMIT @max_rows;

-- name: DeleteAttestation :exec
DELETE FROM attestations_due WHERE subject = @subject;

-- name: ReserveDigest :execrows
-- Reserves the digest of a day. An unfinished reservation expires after ten minutes.
INSERT INTO digest_sent AS d (date, taken_at) VALUES (@date::date, @now)
ON CONFLICT (date) DO UPDATE SET taken_at = excluded.taken_at
WHERE d.sent_at IS NULL AND d.taken_at <= excluded.taken_at - interval '10 minutes';

-- name: StartDigest :execrows
-- Records that a reserved digest is sent. The record does not expire, so that the digest is sent at most once.
UPDATE digest_sent SET sent_at = @now::timestamptz, recipients = 0 WHERE date = @date::date AND sent_at IS NULL;

-- name: FinishDigest :exec
UPDATE digest_sent SET recipients = @recipients::integer WHERE date = @date::date;

-- name: ReleaseDigest :exec
-- Deletes the reservation of a day, or the record of a started digest that was not sent.
DELETE FROM digest_sent WHERE date = @date::date AND (sent_at IS NOT NULL) = @started::boolean;
