SELECT public_key, denpa_id::text, coalesce(app_id, ''), coalesce(grant_id::text, ''), coalesce(key_id::text, ''), scopes, label, created_at, expires_at, revoked_at, coalesce(revoked_by, '')
FROM signers
WHERE denpa_id = $1
ORDER BY created_at DESC, public_key
