SELECT id, owner_id, kind, name, redirect_uris, scopes, homepage, logo_url, allowed_resources, secret_hash, old_secret_hash, old_secret_until, created_at, disabled_at, trusted_at
FROM apps WHERE id = $1
