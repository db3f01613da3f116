SELECT t.grant_id, t.scopes, t.created_at, t.expires_at, t.revoked_at, g.id, g.user_id, g.app_id, g.scopes, g.resource, g.created_at, g.expires_at, g.last_used_at, g.revoked_at, g.revoked_by, a.kind, a.scopes, a.disabled_at
FROM access_tokens t JOIN grants g ON g.id = t.grant_id JOIN apps a ON a.id = g.app_id
WHERE t.hash = $1
