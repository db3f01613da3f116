-- Nobody else has gone on from here, and the same events are still to be sent.
UPDATE webhooks SET delivery_id = $3, through = $4, attempt = $5
WHERE id = $1 AND active AND revision = $2 AND attempt = $5 - 1 AND taken <= $6 AND (delivery_id IS NULL OR delivery_id = $3)
RETURNING id, user_id, url, channels, types, description, active, coalesce(reason, ''), created_at, taken, revision, secret, old_secret, old_until, delivery_id, through, attempt, failing_since, next_at
