-- name: InsertSession :one
-- Stores a session under its second of issue, or under the latest earlier second without a session. Returns no row if a
-- concurrent sign-in used that second.
INSERT INTO sessions (user_id, issued_at, signed_in_at, bind_hash)
SELECT @user_id, sqlc.arg(issued_at)::timestamptz - free.n * interval '1 second', @signed_in_at, @bind_hash
FROM (
    SELECT n
    FROM generate_series(0, 599) AS n
    WHERE NOT EXISTS (
        SELECT 1 FROM sessions s
        WHERE s.user_id = @user_id AND s.issued_at = sqlc.arg(issued_at)::timestamptz - n * interval '1 second')
    ORDER BY n
    LIMIT 1
) free
ON CONFLICT DO NOTHING
RETURNING issued_at;

-- name: GetSession :one
SELECT signed_in_at, bind_hash, ended_at FROM sessions WHERE user_id = @user_id AND issued_at = @issued_at;

-- name: EndSession :exec
UPDATE sessions SET ended_at = @now::timestamptz WHERE user_id = @user_id AND issued_at = @issued_at AND ended_at IS NULL;

-- name: EndSessions :exec
UPDATE sessions SET ended_at = @now::timestamptz WHERE user_id = @user_id AND ended_at IS NULL;

-- name: DeleteOldSessions :execrows
DELETE FROM sessions WHERE issued_at < @before;

-- name: InsertFollow :exec
-- Stores a follow and publishes it to the followed operator. Does nothing if the follow exists.
WITH added AS (
    INSERT INTO follows (follower, followed, created_at) VALUES (@follower, @followed, @now)
    ON CONFLICT (follower, followed) DO NOTHING
    RETURNING follower
)
INSERT INTO outbox (type, at, topic, data)
SELECT 'follow.created', @now::timestamptz, 'me:' || @followed_handle::text,
    jsonb_build_object('handle', @follower_handle::text)::text
FROM added;

-- name: DeleteFollow :exec
DELETE FROM follows WHERE follower = @follower AND followed = @followed;

-- name: GetFollowCounts :one
-- Returns the number of followers of an operator, the number of operators that a viewer follows, and whether the viewer
-- follows the operator.
SELECT
    coalesce((SELECT t.followers FROM follow_totals t WHERE t.user_id = @followed), 0)::bigint AS followers,
    coalesce((SELECT t.following FROM follow_totals t WHERE t.user_id = sqlc.narg(viewer)::uuid), 0)::bigint AS following,
    EXISTS (SELECT FROM follows f WHERE f.follower = sqlc.narg(viewer)::uuid AND f.followed = @followed) AS is_following;

-- name: GetFollowTotals :one
SELECT followers, following FROM follow_totals WHERE user_id = @user_id;

-- name: ListFollowers :many
-- Returns the number of followers of each of the operators, omitting operators without followers.
SELECT user_id, followers FROM follow_totals WHERE user_id = ANY (@user_ids::uuid[]) AND followers > 0;

-- name: LockClaims :exec
-- Serializes transactions that change claims. Without it two transactions that exchange two wallets would deadlock.
SELECT pg_advisory_xact_lock(7202005);

-- name: DeleteClaimOfOthers :exec
-- Deletes the claims of a wallet by other operators.
DELETE FROM identity_claims WHERE station = @station AND identity = @identity AND user_id <> @user_id;

-- name: UpsertClaim :exec
INSERT INTO identity_claims (user_id, station, identity, verified_at)
VALUES (@user_id, @station, @identity, @verified_at)
ON CONFLICT (user_id, station) DO UPDATE SET identity = excluded.identity, verified_at = excluded.verified_at;

-- name: ListClaims :many
SELECT station, identity, verified_at FROM identity_claims WHERE user_id = @user_id ORDER BY station;

-- name: DeleteClaim :execrows
DELETE FROM identity_claims WHERE user_id = @user_id AND station = @station;

-- name: ListClaimOwners :many
-- Returns the owners of claimed wallets. Stations and identities are parallel arrays.
SELECT c.user_id, c.station, c.identity
FROM unnest(@stations::text[], @identities::text[]) AS g (station, identity)
JOIN identity_claims c USING (station, identity);
