-- A statement of its own after the lock: the one that waited for it sees no mint
-- that committed meanwhile.
SELECT count(*) FROM operator_keys WHERE user_id = $1 AND revoked_at IS NULL
