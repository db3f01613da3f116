INSERT INTO signers (public_key, denpa_id, app_id, grant_id, scopes, label, created_at, expires_at, key_id)
VALUES ($1, $2, nullif($3, ''), nullif($4, '')::uuid, $5, $6, $7, $8, nullif($9, '')::uuid)
ON CONFLICT (public_key) DO NOTHING
