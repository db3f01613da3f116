SELECT g.id, g.user_id, g.app_id, g.scopes, g.resource, g.created_at, g.expires_at, g.last_used_at, g.revoked_at, g.revoked_by
FROM grants g
WHERE g.user_id = $1 AND g.app_id = $2 AND g.revoked_at IS NULL AND g.expires_at > $3
ORDER BY g.created_at DESC, g.id DESC LIMIT 100
