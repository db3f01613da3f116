-- Stores whether a profile is hidden, if that changes. The overlay signal gets a new time, because listeners keep
-- the newest one. $1 handle, $2 hidden, $3 now.
WITH renewed AS (
    UPDATE overlay_signals SET updated_at = greatest($3, updated_at + interval '1 microsecond') WHERE handle = $1
)
INSERT INTO streamer_profiles (handle, hidden, updated_at) VALUES ($1, $2, $3)
ON CONFLICT (handle) DO UPDATE SET hidden = excluded.hidden, updated_at = excluded.updated_at
WHERE streamer_profiles.hidden <> excluded.hidden
