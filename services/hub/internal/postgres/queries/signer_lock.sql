-- Waits for messages that are being taken, and lets none in until the end.
SELECT public_key, denpa_id::text, coalesce(app_id, ''), coalesce(grant_id::text, ''), coalesce(key_id::text, ''), scopes, label, created_at, expires_at, revoked_at, coalesce(revoked_by, '')
FROM signers
WHERE public_key = $1
FOR UPDATE
