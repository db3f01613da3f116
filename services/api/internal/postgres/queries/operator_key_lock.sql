-- Mints of one operator stand in line, so that the count of active keys is exact.
SELECT id FROM users WHERE id = $1 FOR UPDATE
