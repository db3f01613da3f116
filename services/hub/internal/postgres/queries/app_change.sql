-- $1 app; owner, kind and birth are final.
UPDATE apps SET name = $2, redirect_uris = $3, scopes = $4, homepage = $5, logo_url = $6, allowed_resources = $7,
    secret_hash = $8, old_secret_hash = $9, old_secret_until = $10, trusted_at = $11
WHERE id = $1
