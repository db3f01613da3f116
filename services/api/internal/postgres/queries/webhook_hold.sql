-- Renewals of one webhook stand in line: each one keeps what the one before made.
SELECT id, user_id, url, channels, types, description, active, coalesce(reason, ''), created_at, taken, revision, secret, old_secret, old_until, delivery_id, through, attempt, failing_since, next_at
FROM webhooks WHERE user_id = $1 AND id = $2 FOR UPDATE
