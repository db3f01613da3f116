SELECT g.id, g.user_id, g.app_id, g.scopes, g.resource, g.created_at, g.expires_at, g.last_used_at, g.revoked_at, g.revoked_by
FROM grants g WHERE g.id = $1 FOR NO KEY UPDATE
