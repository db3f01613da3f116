-- $1 user, $2 one grant or null, $3 now.
SELECT g.id, g.user_id, g.app_id, g.scopes, g.resource, g.created_at, g.expires_at, g.last_used_at, g.revoked_at, g.revoked_by, a.name, a.logo_url,
    ARRAY(SELECT s.public_key FROM signers s
        WHERE s.grant_id = g.id AND s.revoked_at IS NULL AND (s.expires_at IS NULL OR s.expires_at > $3)
        ORDER BY s.created_at, s.public_key)
FROM grants g JOIN apps a ON a.id = g.app_id
WHERE g.user_id = $1 AND ($2::uuid IS NULL OR g.id = $2)
ORDER BY g.revoked_at IS NULL AND g.expires_at > $3 DESC, g.created_at DESC, g.id DESC LIMIT 200
