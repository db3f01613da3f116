-- Operator keys with active signers, in pages. $1 key after which the page begins, $2 now, $3 limit.
SELECT DISTINCT key_id::text FROM signers
WHERE key_id > $1 AND revoked_at IS NULL AND expires_at > $2
ORDER BY 1
LIMIT $3
