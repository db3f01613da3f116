-- The suspended operators among $1.
SELECT handle FROM streamer_profiles WHERE handle = ANY ($1::text[]) AND status = 'suspended'
