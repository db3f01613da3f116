INSERT INTO apps (id, owner_id, kind, name, redirect_uris, scopes, homepage, logo_url, allowed_resources, secret_hash, old_secret_hash, old_secret_until, created_at, disabled_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
