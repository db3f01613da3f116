-- The attempt was made and is told, also when the webhook was changed meanwhile.
WITH done AS (
    UPDATE webhooks SET failing_since = $10, next_at = $11, active = $12, reason = $13
    WHERE id = $1 AND delivery_id = $2 AND attempt = $6
)
INSERT INTO webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, took_ms, at)
SELECT id, $2, nullif($3::bigint, 0), nullif($4::bigint, 0), $5, $6, nullif($7::integer, 0), nullif($8::text, ''), $9, $14
FROM webhooks WHERE id = $1
