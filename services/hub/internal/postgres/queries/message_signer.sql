-- Held to the end of the transaction: a revocation waits, or has been seen.
SELECT revoked_at IS NOT NULL, coalesce(expires_at <= $2, false)
FROM signers
WHERE public_key = $1
FOR SHARE
