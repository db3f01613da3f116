-- The clip that waits longest, for whoever asks first. $1 now, $2 end of the lease.
UPDATE clips SET lease_until = $2, tries = tries + 1
WHERE id = (
    SELECT id FROM clips
    WHERE status = 'processing' AND (lease_until IS NULL OR lease_until <= $1)
    ORDER BY created_at LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING id, handle, created_at, tries
