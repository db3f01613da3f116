-- The signers that ended with their operator key.
SELECT public_key FROM signers WHERE key_id = $1 AND revoked_by = 'key' ORDER BY public_key
