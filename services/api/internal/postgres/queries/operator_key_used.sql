-- Notes that keys are in use, at most once a minute each; one that somebody else
-- notes at this moment is left to him.
UPDATE operator_keys SET last_used_at = $2
WHERE hash IN (
    SELECT hash FROM operator_keys
    WHERE hash = ANY ($1::bytea[]) AND revoked_at IS NULL
        AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute')
    FOR UPDATE SKIP LOCKED)
