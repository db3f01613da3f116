-- What is sent differently ends the delivery under way; so does a new beginning.
UPDATE webhooks SET
    active = coalesce($3, active),
    channels = coalesce($4::text[], channels),
    types = coalesce($5::text[], types),
    description = CASE WHEN $8 THEN $6 ELSE description END,
    reason = CASE WHEN $3 THEN NULL ELSE reason END,
    failing_since = CASE WHEN $3 THEN NULL ELSE failing_since END,
    next_at = CASE WHEN $3 THEN NULL ELSE next_at END,
    revision = revision + CASE WHEN $7 THEN 1 ELSE 0 END,
    delivery_id = CASE WHEN $7 THEN NULL ELSE delivery_id END,
    through = CASE WHEN $7 THEN NULL ELSE through END,
    attempt = CASE WHEN $7 THEN 0 ELSE attempt END,
    key_id = $9
WHERE user_id = $1 AND id = $2
RETURNING id, user_id, url, channels, types, description, active, coalesce(reason, ''), created_at, taken, revision, secret, old_secret, old_until, delivery_id, through, attempt, failing_since, next_at
