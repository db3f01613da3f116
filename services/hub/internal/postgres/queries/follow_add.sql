-- A new follow, of which the followed one hears.
-- $1 follower, $2 followed, $3 now, $4 handle of the follower, $5 of the followed.
WITH added AS (
    INSERT INTO follows (follower, followed, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (follower, followed) DO NOTHING
    RETURNING follower
)
INSERT INTO outbox (type, at, topic, data)
SELECT 'follow.created', $3::timestamptz, 'me:' || $5::text, jsonb_build_object('handle', $4::text)::text FROM added
