-- $1 user or null for anybody's. Revoking again changes nothing.
UPDATE grants SET revoked_at = coalesce(revoked_at, $3), revoked_by = coalesce(revoked_by, $4)
WHERE id = $2 AND ($1::uuid IS NULL OR user_id = $1)
RETURNING id
