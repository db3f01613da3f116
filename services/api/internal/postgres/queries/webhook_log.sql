-- Of a webhook that is still there.
INSERT INTO webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, took_ms, at)
SELECT id, $2, nullif($3::bigint, 0), nullif($4::bigint, 0), $5, $6, nullif($7::integer, 0), nullif($8::text, ''), $9, $10
FROM webhooks WHERE id = $1
