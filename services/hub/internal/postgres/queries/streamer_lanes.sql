-- $1 handle, $2 lanes, $3 now.
INSERT INTO streamer_profiles (handle, lanes, updated_at) VALUES ($1, $2, $3)
ON CONFLICT (handle) DO UPDATE SET lanes = excluded.lanes, updated_at = excluded.updated_at
