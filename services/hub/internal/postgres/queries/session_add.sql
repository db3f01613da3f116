-- A session under its second of issue, or under the closest earlier one that is free. No
-- row: a concurrent sign-in took that second.
-- $1 operator, $2 second of issue, $3 time of the sign-in, $4 binding.
INSERT INTO sessions (user_id, issued_at, signed_in_at, bind_hash)
SELECT $1, free.at, $3, $4
FROM (
    SELECT $2::timestamptz - n * interval '1 second' AS at
    FROM generate_series(0, 599) n
    WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.user_id = $1 AND s.issued_at = $2::timestamptz - n * interval '1 second')
    ORDER BY n
    LIMIT 1
) free
ON CONFLICT DO NOTHING
RETURNING issued_at
