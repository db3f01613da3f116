-- name: GetNotificationCursor :one
SELECT seq FROM notification_cursor;

-- name: StartNotificationCursor :exec
INSERT INTO notification_cursor (seq) VALUES (@seq) ON CONFLICT (one) DO NOTHING;

-- name: MoveNotificationCursor :execrows
-- Moves the cursor and locks it until the end of the transaction. Changes nothing if another transaction has moved it.
UPDATE notification_cursor SET seq = sqlc.arg(upto)::bigint WHERE seq = sqlc.arg(after)::bigint;

-- name: GetNoticeCursor :one
SELECT id FROM notice_cursor;

-- name: MoveNoticeCursor :execrows
-- Moves the cursor and locks it until the end of the transaction. Changes nothing if another transaction has moved it.
UPDATE notice_cursor SET id = sqlc.arg(upto)::bigint WHERE id = sqlc.arg(after)::bigint;

-- name: InsertNotifications :exec
-- Notifies users of facts, unless they have switched the kind off or on after the fact. Each recipient has the position of its
-- fact in the lists of facts, from 1 on. Facts of one group become one row, which is unread again. A second fact of another kind
-- with the same subject changes nothing. Rows are locked in the order of their keys, as in MarkNotificationsRead. The outbox
-- receives each fact with up to 50 of the notified users, and the ids of their rows. Rows of the pushed kinds wait for
-- each web push subscription of their users, and those of the mailed kinds for the confirmed e-mail address.
WITH entered AS (
    INSERT INTO notifications AS n
        (id, user_id, kind, subject, actor, handle, market_id, signal_id, status, score, reason, count, seq, created_at)
    SELECT (array_agg(r.id ORDER BY f.seq))[1], r.user_id, f.kind, f.subject,
        (array_agg(nullif(f.actor, '')::uuid ORDER BY f.seq DESC))[1], (array_agg(f.handle ORDER BY f.seq DESC))[1],
        (array_agg(f.market_id ORDER BY f.seq DESC))[1],
        (array_agg(nullif(f.signal_id, '')::uuid ORDER BY f.seq DESC))[1], (array_agg(f.status ORDER BY f.seq DESC))[1],
        (array_agg(CASE WHEN f.status <> '' THEN f.score END ORDER BY f.seq DESC))[1],
        (array_agg(f.reason ORDER BY f.seq DESC))[1], sum(f.count), max(f.seq), max(f.at)
    FROM unnest(@ids::uuid[], @user_ids::uuid[], @positions::bigint[]) AS r (id, user_id, position)
    JOIN unnest(
        @kinds::text[], @subjects::text[], @actors::text[], @handles::text[], @market_ids::text[], @signal_ids::text[],
        @statuses::text[], @scores::integer[], @reasons::text[], @counts::bigint[], @seqs::bigint[], @at::timestamptz[]
    ) WITH ORDINALITY AS f (kind, subject, actor, handle, market_id, signal_id, status, score, reason, count, seq, at, position)
        ON f.position = r.position
    WHERE NOT EXISTS (
        SELECT FROM notification_switches s
        WHERE s.user_id = r.user_id AND s.kind = f.kind AND (s.on_from IS NULL OR s.on_from > f.at))
    GROUP BY r.user_id, f.kind, f.subject
    ORDER BY r.user_id, f.kind, f.subject
    ON CONFLICT (user_id, kind, subject) DO UPDATE SET
        count = n.count + excluded.count,
        market_id = CASE WHEN excluded.seq >= n.seq THEN excluded.market_id ELSE n.market_id END,
        signal_id = CASE WHEN excluded.seq >= n.seq THEN excluded.signal_id ELSE n.signal_id END,
        actor = CASE WHEN excluded.seq >= n.seq THEN excluded.actor ELSE n.actor END,
        handle = CASE WHEN excluded.seq >= n.seq THEN excluded.handle ELSE n.handle END,
        reason = CASE WHEN excluded.seq >= n.seq THEN excluded.reason ELSE n.reason END,
        seq = greatest(n.seq, excluded.seq), created_at = greatest(n.created_at, excluded.created_at), read_at = NULL
    WHERE n.kind = ANY (@grouped::text[])
    RETURNING n.id, n.user_id, n.kind, n.seq, n.created_at
), messages AS (
    INSERT INTO push_messages AS p (user_id, issued_at, notification_id, due_at)
    SELECT s.user_id, s.issued_at, e.id, e.created_at
    FROM entered e JOIN sessions s ON s.user_id = e.user_id AND s.push IS NOT NULL
    WHERE e.kind = ANY (@pushed::text[])
    ON CONFLICT DO NOTHING
), letters AS (
    INSERT INTO email_messages (id, user_id, kind, notification_id, created_at, due_at)
    SELECT e.id, e.user_id, 'notice', e.id, e.created_at, e.created_at
    FROM entered e JOIN email_addresses a ON a.user_id = e.user_id AND a.confirmed_at IS NOT NULL
    WHERE e.kind = ANY (@mailed::text[])
    FOR KEY SHARE OF a
    ON CONFLICT DO NOTHING
), parts AS (
    SELECT e.id, e.user_id, e.kind, e.seq, e.created_at, row_number() OVER (PARTITION BY e.kind, e.seq) / 50 AS part FROM entered e
)
INSERT INTO outbox (type, at, data)
SELECT 'notification.created', max(created_at), json_build_object('kind', kind, 'ids', json_object_agg(user_id, id))::text
FROM parts GROUP BY kind, seq, part;

-- name: ListAudience :many
-- Returns up to @most followers of each actor, by id, after a follower, and whether each is notified of a fact of this kind. The
-- follows are locked, so that an end of the follow waits and then deletes the notification.
SELECT f.position::bigint AS position, a.follower, coalesce(NOT a.muted AND CASE f.kind
    WHEN 'forecaster_called' THEN a.calls_from WHEN 'forecaster_live' THEN a.live_from ELSE a.takes_from END <= f.at, false)::boolean AS wanted
FROM unnest(@actors::uuid[], @kinds::text[], @at::timestamptz[], @after::uuid[])
    WITH ORDINALITY AS f (actor, kind, at, after, position)
CROSS JOIN LATERAL (
    SELECT w.follower, w.muted, w.calls_from, w.live_from, w.takes_from FROM follows w
    WHERE w.followed = f.actor AND w.follower > f.after
    ORDER BY w.follower LIMIT sqlc.arg(most)::integer
    FOR SHARE
) a
ORDER BY f.position, a.follower;

-- name: ReachMilestones :many
-- Stores that users have these numbers of calls. Returns the users who had not reached their number before.
INSERT INTO milestones AS m (user_id, calls)
SELECT r.user_id, max(r.calls) FROM unnest(@user_ids::uuid[], @calls::bigint[]) AS r (user_id, calls)
WHERE NOT EXISTS (SELECT FROM milestones s WHERE s.user_id = r.user_id AND s.calls >= r.calls)
GROUP BY r.user_id ORDER BY r.user_id
ON CONFLICT (user_id) DO UPDATE SET calls = excluded.calls WHERE m.calls < excluded.calls
RETURNING user_id;

-- name: InsertFanout :exec
INSERT INTO notification_fanouts (seq, kind, audience, actor, handle, market_id, signal_id, reason, at)
VALUES (
    @seq, @kind, @audience, sqlc.narg(actor), @handle, @market_id, sqlc.narg(signal_id), @reason, @at
);

-- name: ListFanouts :many
-- Returns facts whose recipients wait, those with the fewest batches first.
SELECT seq, kind, audience, actor, handle, market_id, signal_id, reason, at, after_user
FROM notification_fanouts ORDER BY batches, seq LIMIT sqlc.arg('limit');

-- name: AdvanceFanout :execrows
-- Stores the last notified user of a fact. Changes nothing if another transaction has changed it.
UPDATE notification_fanouts SET after_user = sqlc.arg(last)::uuid, batches = batches + 1
WHERE seq = @seq AND kind = @kind AND audience = @audience AND after_user = sqlc.arg(after)::uuid;

-- name: DeleteFanout :exec
DELETE FROM notification_fanouts WHERE seq = @seq AND kind = @kind AND audience = @audience;

-- name: ListNotifications :many
-- Returns notifications of a user, the newest first, before the one with the id @before_id and the number @before_seq.
SELECT id, kind, actor, handle, market_id, signal_id, status, score, reason, count, seq, created_at, read_at
FROM notifications
WHERE user_id = @user_id
    AND (sqlc.narg(before_seq)::bigint IS NULL
        OR (seq, id) < (sqlc.narg(before_seq)::bigint, sqlc.narg(before_id)::uuid))
ORDER BY seq DESC, id DESC
LIMIT sqlc.arg('limit');

-- name: CountUnread :one
-- Counts the unread notifications of a user, up to @most.
SELECT count(*) FROM (SELECT FROM notifications u WHERE u.user_id = @user_id AND u.read_at IS NULL LIMIT @most::bigint) n;

-- name: HasNotification :one
SELECT EXISTS (SELECT FROM notifications WHERE user_id = @user_id AND id = @id);

-- name: MarkNotificationsRead :exec
-- Marks a notification and all older ones as read.
WITH upto AS (
    SELECT t.seq, t.id FROM notifications t WHERE t.user_id = @user_id AND t.id = @id
), unread AS (
    SELECT n.id FROM notifications n, upto u
    WHERE n.user_id = @user_id AND n.read_at IS NULL AND (n.seq, n.id) <= (u.seq, u.id)
    ORDER BY n.kind, n.subject FOR UPDATE OF n
)
UPDATE notifications SET read_at = @now::timestamptz WHERE id IN (SELECT id FROM unread);

-- name: DeleteUnreadOf :exec
-- Deletes the unread notifications of a user about what a followed operator does.
DELETE FROM notifications WHERE user_id = @user_id AND read_at IS NULL AND actor = @actor AND kind = ANY (@kinds::text[]);

-- name: DeleteNotificationsOfKind :exec
DELETE FROM notifications WHERE user_id = @user_id AND kind = @kind;

-- name: UncountFollow :exec
-- Takes an ended follow out of the notification of its day, which then has the name of another follower of the day, and deletes
-- the notification without a follow. A follow that the user has seen is remembered.
WITH entry AS (
    SELECT n.id, n.count, n.actor = sqlc.arg(follower)::uuid AS named, o.follower, o.noticed_as
    FROM notifications n LEFT JOIN LATERAL (
        SELECT f.follower, f.noticed_as FROM follows f
        WHERE f.followed = n.user_id AND f.noticed_as <> '' AND f.created_at >= n.subject::timestamp AT TIME ZONE 'UTC'
            AND f.created_at < n.subject::timestamp AT TIME ZONE 'UTC' + interval '1 day'
        ORDER BY f.created_at DESC LIMIT 1) o ON true
    WHERE n.user_id = @user_id AND n.kind = 'followed' AND n.subject = @subject
    FOR UPDATE OF n
), seen AS (
    INSERT INTO seen_follows (followed, follower, seen_at)
    SELECT @user_id, sqlc.arg(follower)::uuid, sqlc.arg(now)::timestamptz WHERE EXISTS (
        SELECT FROM notifications u
        WHERE u.user_id = @user_id AND u.kind = 'followed' AND u.subject = @subject AND u.read_at IS NOT NULL)
    ON CONFLICT (followed, follower) DO NOTHING
), one AS (
    DELETE FROM notifications d USING entry e WHERE d.id = e.id AND (e.count = 1 OR e.named AND e.follower IS NULL)
)
UPDATE notifications n SET
    count = e.count - 1, actor = CASE WHEN e.named THEN e.follower ELSE n.actor END,
    handle = CASE WHEN e.named THEN e.noticed_as ELSE n.handle END
FROM entry e WHERE n.id = e.id AND e.count > 1 AND (NOT e.named OR e.follower IS NOT NULL);

-- name: RemoveFollowerName :exec
-- Replaces the name of a follower in the unread notification of the follow with that of another follower of the day, or deletes
-- the notification without one: for a user, or with a null user for all that the follower follows.
WITH entry AS (
    SELECT n.id, o.follower, o.noticed_as
    FROM follows w JOIN notifications n ON n.user_id = w.followed AND n.kind = 'followed'
        AND n.subject = to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
    LEFT JOIN LATERAL (
        SELECT f.follower, f.noticed_as FROM follows f
        WHERE f.followed = n.user_id AND f.follower <> sqlc.arg(follower)::uuid AND f.noticed_as <> ''
            AND f.created_at >= n.subject::timestamp AT TIME ZONE 'UTC'
            AND f.created_at < n.subject::timestamp AT TIME ZONE 'UTC' + interval '1 day'
        ORDER BY f.created_at DESC LIMIT 1) o ON true
    WHERE w.follower = sqlc.arg(follower)::uuid AND w.followed = coalesce(sqlc.narg(user_id)::uuid, w.followed)
        AND n.actor = sqlc.arg(follower)::uuid AND n.read_at IS NULL
    ORDER BY n.user_id, n.kind, n.subject FOR UPDATE OF n
), alone AS (
    DELETE FROM notifications d USING entry e WHERE d.id = e.id AND e.follower IS NULL
)
UPDATE notifications n SET actor = e.follower, handle = e.noticed_as FROM entry e WHERE n.id = e.id AND e.follower IS NOT NULL;

-- name: DeleteUnreadByFollowers :exec
-- Deletes the unread notifications of all followers of an operator about what the operator did, or about one call of the operator.
DELETE FROM notifications WHERE id IN (
    SELECT n.id FROM follows f JOIN notifications n ON n.user_id = f.follower
    WHERE f.followed = sqlc.arg(actor)::uuid AND n.actor = sqlc.arg(actor)::uuid AND n.read_at IS NULL AND n.kind = ANY (@kinds::text[])
        AND (sqlc.narg(signal_id)::uuid IS NULL OR n.signal_id = sqlc.narg(signal_id)::uuid)
    ORDER BY n.user_id, n.kind, n.subject FOR UPDATE OF n
);

-- name: DeleteFanoutsOf :exec
-- Ends the notification of the followers of an operator, or of one call of the operator.
DELETE FROM notification_fanouts
WHERE actor = sqlc.arg(actor)::uuid AND (sqlc.narg(signal_id)::uuid IS NULL OR signal_id = sqlc.narg(signal_id)::uuid);

-- name: ListSwitches :many
SELECT kind, (on_from IS NOT NULL)::boolean AS enabled FROM notification_switches WHERE user_id = @user_id;

-- name: ListClosingUsers :many
-- Returns the users that have switched a kind on, by id, after a user, and the markets that each watches.
SELECT s.user_id, array(SELECT w.market_id FROM watches w WHERE w.user_id = s.user_id ORDER BY w.market_id)::text[] AS markets
FROM notification_switches s
WHERE s.kind = @kind AND s.on_from IS NOT NULL AND s.user_id > @after
ORDER BY s.user_id LIMIT sqlc.arg('limit');

-- name: SetSwitches :exec
-- Switches kinds on or off for a user. A kind that was on keeps its start.
INSERT INTO notification_switches AS s (user_id, kind, on_from)
SELECT @user_id, k.kind, CASE WHEN k.enabled THEN sqlc.arg(now)::timestamptz END
FROM unnest(@kinds::text[], @enabled::boolean[]) AS k (kind, enabled)
WHERE NOT k.enabled OR k.kind = ANY (@off_by_default::text[]) OR EXISTS (SELECT FROM notification_switches o WHERE o.user_id = @user_id AND o.kind = k.kind)
ON CONFLICT (user_id, kind) DO UPDATE SET
    on_from = CASE WHEN excluded.on_from IS NULL THEN NULL ELSE coalesce(s.on_from, excluded.on_from) END;

-- name: DeleteOldNotifications :execrows
-- Deletes notifications that are older than a time, at most @most.
DELETE FROM notifications WHERE id IN (
    SELECT o.id FROM notifications o WHERE o.created_at < @before ORDER BY o.created_at LIMIT sqlc.arg(most)::integer
);

-- name: DeleteOldSeenFollows :exec
DELETE FROM seen_follows WHERE seen_at < @before;

-- name: SetPush :one
-- Stores the web push subscription of a session that has not ended, or removes it if @subscription is null. A user can have at most
-- @most subscriptions. If an earlier session of the same browser has the subscription, it is removed there.
WITH stored AS (
    UPDATE sessions s SET push = sqlc.narg(subscription)::text
    WHERE s.user_id = @user_id AND s.issued_at = @issued_at AND s.ended_at IS NULL AND (sqlc.narg(subscription)::text IS NULL OR (
        SELECT count(*) FROM sessions o WHERE o.user_id = @user_id AND o.issued_at <> @issued_at AND o.push IS NOT NULL) < @most::bigint)
    RETURNING s.push
), earlier AS (
    UPDATE sessions e SET push = NULL FROM stored n WHERE e.push = n.push AND (e.user_id, e.issued_at) <> (@user_id, @issued_at)
)
SELECT EXISTS (SELECT FROM stored);

-- name: ListPushMessages :many
SELECT p.user_id, p.issued_at, p.attempts, s.push, n.id, n.kind, n.market_id, n.signal_id, n.status
FROM push_messages p
JOIN sessions s ON s.user_id = p.user_id AND s.issued_at = p.issued_at
JOIN notifications n ON n.id = p.notification_id
WHERE p.due_at <= @now AND s.push IS NOT NULL AND s.used_at > @idle
ORDER BY p.due_at LIMIT sqlc.arg('limit');

-- name: DeleteOldPushMessages :exec
-- Deletes the messages of old notifications, and those of sessions without a subscription.
DELETE FROM push_messages p USING sessions s, notifications n
WHERE s.user_id = p.user_id AND s.issued_at = p.issued_at AND n.id = p.notification_id
    AND (n.created_at < @oldest OR s.push IS NULL OR s.used_at <= @idle);

-- name: DeletePushMessage :exec
DELETE FROM push_messages WHERE user_id = @user_id AND issued_at = @issued_at AND notification_id = @id;

-- name: DelayPushMessage :exec
UPDATE push_messages SET attempts = attempts + 1, due_at = @due WHERE user_id = @user_id AND issued_at = @issued_at AND notification_id = @id;

-- name: EndPush :exec
-- Deletes a subscription, unless the session has another one.
UPDATE sessions SET push = NULL WHERE user_id = @user_id AND issued_at = @issued_at AND push = @subscription::text;
