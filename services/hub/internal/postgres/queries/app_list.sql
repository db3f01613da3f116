-- The last 200: disabled apps stay on the list.
SELECT id, owner_id, kind, name, redirect_uris, scopes, homepage, logo_url, allowed_resources, secret_hash, old_secret_hash, old_secret_until, created_at, disabled_at, trusted_at
FROM apps WHERE owner_id = $1
ORDER BY disabled_at IS NULL DESC, created_at DESC, id DESC LIMIT 200
