-- Registers once: $1 handle, $2 lanes or null, $3 now. No row: it was done before.
INSERT INTO streamer_profiles AS p (handle, status, lanes, registered_at, updated_at)
VALUES ($1, 'pending', coalesce($2::text[], '{}'), $3, $3)
ON CONFLICT (handle) DO UPDATE SET status = 'pending', lanes = coalesce($2::text[], p.lanes), registered_at = $3, updated_at = $3
WHERE p.status = 'none'
RETURNING status
