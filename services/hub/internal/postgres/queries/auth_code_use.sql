-- $3 the grant that it came to, null when it was burnt.
UPDATE auth_codes SET used_at = $2, grant_id = coalesce($3, grant_id), redeemed = $3::uuid IS NOT NULL
WHERE hash = $1 AND used_at IS NULL
