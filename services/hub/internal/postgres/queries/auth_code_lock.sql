-- Attempts at one code stand in line; whoever waited sees what the one before did.
SELECT app_id, user_id, redirect_uri, scopes, challenge, resource, grant_id, consented, created_at, expires_at, used_at, redeemed
FROM auth_codes WHERE hash = $1 FOR NO KEY UPDATE
