-- Deactivates the webhooks of a revoked key.
UPDATE webhooks SET active = false, reason = 'key_revoked', failing_since = NULL, next_at = NULL
WHERE key_id = $1
RETURNING id
