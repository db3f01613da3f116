-- A request is decided once, by the user and in the session that it was made for.
DELETE FROM auth_requests WHERE hash = $1 AND session_hash = $2 AND user_id = $3
RETURNING app_id, redirect_uri, scopes, state, challenge, resource, renew, created_at, expires_at
