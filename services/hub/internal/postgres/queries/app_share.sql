-- The app stays as it is until the end of the transaction: no grant is made of an
-- app that is being disabled.
SELECT id, owner_id, kind, name, redirect_uris, scopes, homepage, logo_url, allowed_resources, secret_hash, old_secret_hash, old_secret_until, created_at, disabled_at, trusted_at
FROM apps WHERE id = $1 FOR SHARE
