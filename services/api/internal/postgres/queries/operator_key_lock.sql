-- Mints of one operator stand in line, so that the count of active keys is exact.
SELECT (SELECT count(*) FROM operator_keys k WHERE k.user_id = u.id AND k.revoked_at IS NULL)
FROM users u WHERE u.id = $1
FOR UPDATE OF u
