-- Noted at most once in $3.
UPDATE grants SET last_used_at = $2
WHERE id = $1 AND revoked_at IS NULL AND (last_used_at IS NULL OR last_used_at <= $2::timestamptz - $3::interval)
