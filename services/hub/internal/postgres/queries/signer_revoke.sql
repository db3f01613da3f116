-- The clock of another hub may be ahead: every message that was taken lies
-- before the revocation all the same.
UPDATE signers SET revoked_by = $3,
    revoked_at = greatest($2, (SELECT max(received_at) + interval '1 microsecond' FROM messages WHERE public_key = $1))
WHERE public_key = $1
RETURNING revoked_at
