SELECT public_key FROM signers WHERE key_id = $1 AND revoked_at IS NULL ORDER BY public_key FOR UPDATE
