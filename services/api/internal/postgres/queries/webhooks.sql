-- name: CountWebhooks :one
-- Counts the webhooks of an operator.
SELECT count(*) FROM webhooks WHERE user_id = @user_id;

-- name: InsertWebhook :exec
-- Stores a new webhook.
INSERT INTO webhooks (id, user_id, url, channels, types, description, created_at, taken, secret, key_id)
VALUES (@id, @user_id, @url, @channels, @types, @description, @created_at, @taken, @secret, @key_id);

-- name: LockActiveKey :one
-- Locks a key that is not revoked. The key remains active until the end of the transaction: a revocation that was
-- committed before is visible here, and a later one waits and then finds the webhook.
SELECT 1 AS active FROM operator_keys WHERE id = @key_id AND user_id = @user_id AND revoked_at IS NULL FOR SHARE;

-- name: GetWebhook :one
-- Returns a webhook of an operator.
SELECT sqlc.embed(w) FROM webhooks AS w WHERE w.user_id = @user_id AND w.id = @id;

-- name: ListWebhooks :many
-- Returns the webhooks of an operator, oldest first.
SELECT sqlc.embed(w) FROM webhooks AS w WHERE w.user_id = @user_id ORDER BY w.created_at, w.id;

-- name: ListActiveWebhooks :many
-- Returns the webhooks of all operators that receive deliveries.
SELECT sqlc.embed(w) FROM webhooks AS w WHERE w.active;

-- name: ChangeWebhook :one
-- Changes the members that are given. A change of the selected events (@restart) ends the delivery in progress.
-- Activation clears the reason and the times of earlier failures.
UPDATE webhooks AS w SET
    active = coalesce(sqlc.narg(active), active),
    channels = coalesce(sqlc.narg(channels)::text[], channels),
    types = coalesce(sqlc.narg(types)::text[], types),
    description = CASE WHEN @described::boolean THEN sqlc.narg(description) ELSE description END,
    reason = CASE WHEN sqlc.narg(active) THEN NULL ELSE reason END,
    failing_since = CASE WHEN sqlc.narg(active) THEN NULL ELSE failing_since END,
    next_at = CASE WHEN sqlc.narg(active) THEN NULL ELSE next_at END,
    revision = revision + CASE WHEN @restart::boolean THEN 1 ELSE 0 END,
    delivery_id = CASE WHEN @restart THEN NULL ELSE delivery_id END,
    through = CASE WHEN @restart THEN NULL ELSE through END,
    attempt = CASE WHEN @restart THEN 0 ELSE attempt END,
    key_id = @key_id
WHERE user_id = @user_id AND id = @id
RETURNING sqlc.embed(w);

-- name: LockWebhook :one
-- Returns a webhook and locks it. Renewals of one webhook are serialized, so that each reads the secrets of the one
-- before.
SELECT sqlc.embed(w) FROM webhooks AS w WHERE w.user_id = @user_id AND w.id = @id FOR UPDATE;

-- name: RenewWebhook :one
-- Stores a new secret, and the old secret with the time until which it is valid.
UPDATE webhooks AS w SET secret = @secret, old_secret = @old_secret, old_until = @old_until
WHERE user_id = @user_id AND id = @id
RETURNING sqlc.embed(w);

-- name: MarkWebhookTested :one
-- Stores the time of a test delivery, unless the last one was after @before.
UPDATE webhooks AS w SET tested_at = @now
WHERE user_id = @user_id AND id = @id AND (tested_at IS NULL OR tested_at <= @before)
RETURNING sqlc.embed(w);

-- name: ResendDelivery :one
-- Makes the next attempt of a pending delivery due. Returns no row if the delivery is not pending, or if an attempt of the
-- webhook was logged after @before. Requests at the same time lead to one attempt.
UPDATE webhooks AS w SET next_at = NULL
WHERE w.user_id = @user_id AND w.id = @id AND w.active AND w.delivery_id = @delivery_id::uuid AND NOT coalesce((
    SELECT d.at > @before::timestamptz FROM webhook_deliveries AS d WHERE d.webhook_id = w.id ORDER BY d.line DESC LIMIT 1
), false)
RETURNING sqlc.embed(w);

-- name: GetLastAttempt :one
-- Returns the result of the last logged attempt of a delivery.
SELECT d.events, coalesce(d.error, '') AS error FROM webhook_deliveries AS d
WHERE d.webhook_id = @webhook_id AND d.delivery_id = @delivery_id ORDER BY d.line DESC LIMIT 1;

-- name: DeleteWebhook :execrows
-- Deletes a webhook with its log.
DELETE FROM webhooks WHERE user_id = @user_id AND id = @id;

-- name: DeactivateWebhooksOfKey :many
-- Deactivates the webhooks of a revoked key and returns their ids.
UPDATE webhooks SET active = false, reason = 'key_revoked', failing_since = NULL, next_at = NULL
WHERE key_id = @key_id
RETURNING id;

-- name: BeginDelivery :one
-- Stores that an attempt is about to be sent. Returns no row if another process has continued the delivery, or if a
-- change of the webhook selects other events.
UPDATE webhooks AS w SET delivery_id = @delivery_id::uuid, through = @through::bigint, attempt = @attempt::integer
WHERE id = @id AND active AND revision = @revision AND attempt + 1 = @attempt::integer AND taken <= @after
    AND (delivery_id IS NULL OR delivery_id = @delivery_id)
RETURNING sqlc.embed(w);

-- name: CompleteDelivery :exec
-- Logs a success and advances the cursor, which never moves back. If the webhook was changed in the meantime, the
-- cursor does not move and the events are sent again. The attempt is logged in both cases.
WITH done AS (
    UPDATE webhooks SET taken = greatest(taken, through), delivery_id = NULL, through = NULL, attempt = 0,
        failing_since = NULL, next_at = NULL, reason = NULL
    WHERE id = @webhook_id AND delivery_id = @delivery_id
)
INSERT INTO webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, took_ms, at)
SELECT w.id, @delivery_id, nullif(@first_seq::bigint, 0), nullif(@last_seq::bigint, 0), @events, @attempt, @status, @took_ms, @at
FROM webhooks AS w WHERE w.id = @webhook_id;

-- name: FailDelivery :execrows
-- Logs a failure, and stores the time of the next attempt and whether the webhook remains active. If the webhook was changed or
-- deactivated in the meantime, only the attempt is logged, and the result is 0.
WITH done AS (
    UPDATE webhooks AS u SET failing_since = @failing_since, next_at = @next_at, active = @active, reason = @reason
    WHERE u.id = @webhook_id AND u.delivery_id = @delivery_id::uuid AND u.attempt = @attempt AND u.active
    RETURNING u.id
), logged AS (
    INSERT INTO webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, detail, took_ms, at)
    SELECT w.id, @delivery_id, nullif(@first_seq::bigint, 0), nullif(@last_seq::bigint, 0), @events, @attempt,
        nullif(@status::integer, 0), nullif(@error::text, ''), nullif(@detail::text, ''), @took_ms, @at
    FROM webhooks AS w WHERE w.id = @webhook_id
)
SELECT FROM done;

-- name: LogDelivery :exec
-- Adds a line to the log of a webhook that still exists.
INSERT INTO webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, detail, took_ms, at)
SELECT w.id, @delivery_id, nullif(@first_seq::bigint, 0), nullif(@last_seq::bigint, 0), @events, @attempt,
    nullif(@status::integer, 0), nullif(@error::text, ''), nullif(@detail::text, ''), @took_ms, @at
FROM webhooks AS w WHERE w.id = @webhook_id;

-- name: SkipWebhookEvents :exec
-- Advances cursors over events that the webhooks do not receive.
UPDATE webhooks AS w SET taken = p.at
FROM unnest(@ids::uuid[], @revisions::integer[], @cursors::bigint[]) AS p (id, revision, at)
WHERE w.id = p.id AND w.revision = p.revision AND w.delivery_id IS NULL AND w.taken < p.at;

-- name: ListDeliveries :many
-- Returns the log of a webhook below the line @before (0: all), newest first.
SELECT line, webhook_id, delivery_id, coalesce(first_seq, 0) AS first_seq, coalesce(last_seq, 0) AS last_seq, events, attempt,
    coalesce(status, 0) AS status, coalesce(error, '') AS error, coalesce(detail, '') AS detail, took_ms, at
FROM webhook_deliveries
WHERE webhook_id = @webhook_id AND (@before::bigint = 0 OR line < @before)
ORDER BY line DESC LIMIT sqlc.arg('limit');

-- name: DeleteOldDeliveries :exec
-- Deletes the lines of the log from before a time.
DELETE FROM webhook_deliveries WHERE at < @before;
