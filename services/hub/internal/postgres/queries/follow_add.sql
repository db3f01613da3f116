-- $1 follower, $2 followed, $3 now.
INSERT INTO follows (follower, followed, created_at) VALUES ($1, $2, $3) ON CONFLICT (follower, followed) DO NOTHING
