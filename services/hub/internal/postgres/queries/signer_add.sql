INSERT INTO signers (public_key, denpa_id, app_id, grant_id, scopes, label, created_at, expires_at)
VALUES ($1, $2, nullif($3, ''), nullif($4, '')::uuid, $5, $6, $7, $8)
ON CONFLICT (public_key) DO NOTHING
