UPDATE webhooks SET tested_at = $3
WHERE user_id = $1 AND id = $2 AND (tested_at IS NULL OR tested_at <= $4)
RETURNING id, user_id, url, channels, types, description, active, coalesce(reason, ''), created_at, taken, revision, secret, old_secret, old_until, delivery_id, through, attempt, failing_since, next_at
