-- $1 hash, $2 now, $3 how often a use is noted. A grant that somebody else holds
-- is left to him: nobody waits to be let in.
WITH used AS (
    UPDATE grants SET last_used_at = $2 WHERE id IN (
        SELECT g.id FROM access_tokens t JOIN grants g ON g.id = t.grant_id
        WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > $2 AND g.revoked_at IS NULL AND g.expires_at > $2
            AND (g.last_used_at IS NULL OR g.last_used_at <= $2::timestamptz - $3::interval)
        FOR NO KEY UPDATE OF g SKIP LOCKED)
)
SELECT t.grant_id, t.scopes, t.created_at, t.expires_at, t.revoked_at, g.id, g.user_id, g.app_id, g.scopes, g.resource, g.created_at, g.expires_at, g.last_used_at, g.revoked_at, g.revoked_by, a.kind, a.scopes, a.disabled_at
FROM access_tokens t JOIN grants g ON g.id = t.grant_id JOIN apps a ON a.id = g.app_id
WHERE t.hash = $1
