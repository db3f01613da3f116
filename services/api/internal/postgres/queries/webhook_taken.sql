-- The cursor moves in the statement that notes the success, and never back. Where
-- the webhook was changed meanwhile it stays, and what was taken comes again; the attempt is told.
WITH done AS (
    UPDATE webhooks SET taken = greatest(taken, through), delivery_id = NULL, through = NULL, attempt = 0,
        failing_since = NULL, next_at = NULL, reason = NULL
    WHERE id = $1 AND delivery_id = $2
)
INSERT INTO webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, took_ms, at)
SELECT id, $2, nullif($3::bigint, 0), nullif($4::bigint, 0), $5, $6, $7, $8, $9
FROM webhooks WHERE id = $1
