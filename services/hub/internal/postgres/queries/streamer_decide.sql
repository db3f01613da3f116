-- $1 handle, $2 status, $3 now.
INSERT INTO streamer_profiles (handle, status, decided_at, updated_at) VALUES ($1, $2, $3, $3)
ON CONFLICT (handle) DO UPDATE SET status = excluded.status, decided_at = excluded.decided_at, updated_at = excluded.updated_at
