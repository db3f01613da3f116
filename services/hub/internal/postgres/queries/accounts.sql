-- name: InsertSession :one
-- Stores a session under its second of issue, or under the latest earlier second without a session. Returns no row if a
-- concurrent sign-in used that second.
INSERT INTO sessions (user_id, issued_at, signed_in_at, bind_hash, used_at, browser, address, email)
SELECT
    @user_id, sqlc.arg(issued_at)::timestamptz - free.n * interval '1 second', @signed_in_at, @bind_hash,
    sqlc.arg(issued_at)::timestamptz, @browser, @address, sqlc.narg(email)
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
SELECT signed_in_at, bind_hash, ended_at, used_at, browser, address
FROM sessions WHERE user_id = @user_id AND issued_at = @issued_at;

-- name: ListSessions :many
-- Returns the active sessions of an operator that were used after a time, the last used first.
SELECT issued_at, signed_in_at, used_at, browser, address, (push IS NOT NULL)::boolean AS pushes
FROM sessions WHERE user_id = @user_id AND ended_at IS NULL AND used_at > @idle
ORDER BY used_at DESC, issued_at DESC LIMIT @max_rows;

-- name: UseSession :exec
-- Stores that a session and its device were used.
WITH used AS (
    UPDATE sessions s SET used_at = @now::timestamptz
    WHERE s.user_id = @user_id AND s.issued_at = @issued_at AND s.ended_at IS NULL AND s.used_at < @now
    RETURNING s.user_id, s.browser, s.address
)
UPDATE devices d SET used_at = @now FROM used u
WHERE d.user_id = u.user_id AND d.browser = u.browser AND d.address = u.address AND d.used_at < @now;

-- name: UseDevice :one
-- Stores that an operator signed in from a device. Reports whether the operator has signed in before, but not from this device
-- after the time recent.
WITH before AS (
    SELECT
        count(*) FILTER (WHERE d.browser = @browser AND d.address = @address AND d.used_at > @recent) AS same,
        count(*) AS devices
    FROM devices d WHERE d.user_id = @user_id
), stored AS (
    INSERT INTO devices (user_id, browser, address, used_at) VALUES (@user_id, @browser, @address, @now)
    ON CONFLICT (user_id, browser, address) DO UPDATE SET used_at = greatest(devices.used_at, excluded.used_at)
)
SELECT (b.same = 0 AND b.devices > 0)::boolean AS new_device FROM before b;

-- name: DeleteOldDevices :execrows
DELETE FROM devices WHERE used_at < @before;

-- name: EndSession :exec
UPDATE sessions SET ended_at = @now::timestamptz, push = NULL, email = NULL WHERE user_id = @user_id AND issued_at = @issued_at AND ended_at IS NULL;

-- name: EndSessions :exec
UPDATE sessions SET ended_at = @now::timestamptz, push = NULL, email = NULL WHERE user_id = @user_id AND ended_at IS NULL;

-- name: DeleteOldSessions :execrows
DELETE FROM sessions WHERE used_at < @before;

-- name: InsertFollow :one
-- Stores a follow and publishes it to the followed operator. Returns whether the operator is notified, and nothing if the follow
-- exists.
WITH added AS (
    INSERT INTO follows (follower, followed, created_at, calls_from, live_from, takes_from, noticed_as)
    VALUES (
        @follower, @followed, @now, @now, @now, @now, CASE WHEN EXISTS (
            SELECT FROM seen_follows s WHERE s.followed = @followed AND s.follower = @follower) THEN '' ELSE @follower_handle::text END
    )
    ON CONFLICT (follower, followed) DO NOTHING
    RETURNING noticed_as
), published AS (
    INSERT INTO outbox (type, at, topic, data)
    SELECT 'follow.created', @now::timestamptz, 'me:' || @followed_handle::text,
        jsonb_build_object('handle', @follower_handle::text)::text
    FROM added
)
SELECT (noticed_as <> '')::boolean AS noticed FROM added;

-- name: DeleteFollow :one
DELETE FROM follows WHERE follower = @follower AND followed = @followed RETURNING created_at, (noticed_as <> '')::boolean AS noticed;

-- name: DeleteFollowsOf :many
-- Deletes the follows of an operator and returns those that a notification counts.
WITH ended AS (
    DELETE FROM follows WHERE follower = @follower RETURNING followed, created_at, noticed_as
)
SELECT e.followed, e.created_at FROM ended AS e WHERE e.noticed_as <> '';

-- name: UpdateFollow :execrows
-- Changes what a follower is notified of. A null argument changes nothing. To switch a kind on, or to end a mute, sets the start
-- of the kind to @now, so that older events cause no notification.
UPDATE follows SET
    muted = coalesce(sqlc.narg(muted)::boolean, muted),
    calls_from = CASE
        WHEN NOT coalesce(sqlc.narg(calls)::boolean, calls_from IS NOT NULL) THEN NULL
        WHEN calls_from IS NULL OR muted AND sqlc.narg(muted)::boolean = false THEN sqlc.arg(now)::timestamptz ELSE calls_from END,
    live_from = CASE
        WHEN NOT coalesce(sqlc.narg(live)::boolean, live_from IS NOT NULL) THEN NULL
        WHEN live_from IS NULL OR muted AND sqlc.narg(muted)::boolean = false THEN sqlc.arg(now)::timestamptz ELSE live_from END,
    takes_from = CASE
        WHEN NOT coalesce(sqlc.narg(takes)::boolean, takes_from IS NOT NULL) THEN NULL
        WHEN takes_from IS NULL OR muted AND sqlc.narg(muted)::boolean = false THEN sqlc.arg(now)::timestamptz ELSE takes_from END
WHERE follower = @follower AND followed = @followed;

-- name: ListFollowing :many
-- Returns follows of an operator, the newest first, after the follow of @after_followed at @after_at.
SELECT followed, created_at, muted, (calls_from IS NOT NULL)::boolean AS calls, (live_from IS NOT NULL)::boolean AS live,
    (takes_from IS NOT NULL)::boolean AS takes
FROM follows
WHERE follower = @follower
    AND (sqlc.narg(after_at)::timestamptz IS NULL OR created_at < sqlc.narg(after_at)::timestamptz
        OR created_at = sqlc.narg(after_at)::timestamptz AND followed > sqlc.narg(after_followed)::uuid)
ORDER BY created_at DESC, followed
LIMIT sqlc.arg('limit');

-- name: InsertWatch :execrows
-- Stores a watch, unless the user has @most others.
INSERT INTO watches (user_id, market_id, created_at)
SELECT @user_id, @market_id, @now
WHERE (SELECT count(*) FROM watches w WHERE w.user_id = @user_id AND w.market_id <> @market_id) < sqlc.arg(most)::integer
ON CONFLICT (user_id, market_id) DO NOTHING;

-- name: HasWatch :one
SELECT EXISTS (SELECT FROM watches WHERE user_id = @user_id AND market_id = @market_id);

-- name: DeleteWatch :exec
DELETE FROM watches WHERE user_id = @user_id AND market_id = @market_id;

-- name: ListWatches :many
-- Returns the markets that a user watches, the newest first.
SELECT market_id, created_at FROM watches WHERE user_id = @user_id ORDER BY created_at DESC, market_id LIMIT sqlc.arg('limit');

-- name: ListWatchedOf :many
-- Returns which of the markets a user watches.
SELECT market_id FROM watches WHERE user_id = @user_id AND market_id = ANY (@market_ids::text[]);

-- name: ListWatchers :many
-- Returns the users who watch a market, by id, after the user @after.
SELECT user_id, created_at FROM watches WHERE market_id = @market_id AND user_id > @after ORDER BY user_id LIMIT sqlc.arg('limit');

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

-- name: StartExport :execrows
-- Stores an export in place of the last one. Changes nothing if the last one was created after @before.
INSERT INTO exports (user_id, id, session_at, created_at) VALUES (@user_id, @id, @session_at, @created_at)
ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, session_at = excluded.session_at, created_at = excluded.created_at
WHERE exports.created_at <= @before;

-- name: GetExport :one
SELECT id, session_at, created_at FROM exports WHERE user_id = @user_id;

-- name: ListPersonalRows :many
-- Returns rows of a section of an account after a key, in the order of the keys. The last key is found first, so that only the
-- objects of the returned rows are built.
WITH page AS (
    SELECT k.key FROM personal_rows AS k
    WHERE k.section = @section AND (k.user_id IS NOT NULL AND k.user_id = @user_id OR k.handle IS NOT NULL AND k.handle = @handle) AND k.key > @after
    ORDER BY k.key LIMIT sqlc.arg('limit')
)
SELECT p.key, p.data FROM personal_rows AS p
WHERE p.section = @section AND (p.user_id IS NOT NULL AND p.user_id = @user_id OR p.handle IS NOT NULL AND p.handle = @handle) AND p.key > @after AND p.key <= (SELECT max(key)::text FROM page)
ORDER BY p.key;

-- name: CloseAccount :exec
WITH ended AS (UPDATE sessions SET push = NULL, email = NULL WHERE user_id = @user_id AND (push IS NOT NULL OR email IS NOT NULL))
SELECT close_account(@user_id::uuid, @handle::text, @now::timestamptz);

-- name: DeleteProfileLink :exec
-- Deletes the short link to the page of an operator.
DELETE FROM short_links WHERE type = 'operator' AND id = @handle;

-- name: EraseAccount :exec
SELECT erase_account(@user_id::uuid, @handle::text, @replacement::text);

-- name: StartHandleChange :exec
-- Stores that the handle of an operator may change.
INSERT INTO handle_changes (user_id, handle, started_at) VALUES (@user_id, @handle, @now)
ON CONFLICT (user_id, handle) DO UPDATE SET started_at = excluded.started_at;

-- name: ListHandleChanges :many
-- Returns changes of handles that were started before a time and may be incomplete.
SELECT user_id, handle FROM handle_changes WHERE started_at < @before ORDER BY started_at LIMIT 100;

-- name: EndHandleChange :exec
DELETE FROM handle_changes WHERE user_id = @user_id AND handle = @handle;

-- name: DeleteHandleChanges :exec
DELETE FROM handle_changes WHERE user_id = @user_id;

-- name: MoveHandle :exec
-- Moves what is stored under the former handle of an operator.
SELECT move_handle(@user_id::uuid, @former::text, @wanted::text);
