UPDATE webhooks SET secret = $3, old_secret = $4, old_until = $5
WHERE user_id = $1 AND id = $2
RETURNING id, user_id, url, channels, types, description, active, coalesce(reason, ''), created_at, taken, revision, secret, old_secret, old_until, delivery_id, through, attempt, failing_since, next_at
