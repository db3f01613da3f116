-- name: DecideModeration :one
-- Hides or restores an object and returns false if it does not exist.
SELECT moderate(@kind, @id, @hidden, @reason, @decided_by, @now)::boolean AS found;

-- name: GetModeratedAuthor :one
-- Returns the author of an object, and the call that it belongs to. Returns nothing for an object without an author.
SELECT a.user_id::text AS operator_id, coalesce(a.signal_id::text, '')::text AS signal_id
FROM (
    SELECT s.user_id, s.id AS signal_id FROM signals AS s WHERE s.id = CASE WHEN @kind::text = 'signal' THEN sqlc.arg(id)::text::uuid END
    UNION ALL
    SELECT s.user_id, s.signal_id FROM unconfirmed_signals AS s
    WHERE s.signal_id = CASE WHEN @kind = 'signal' THEN sqlc.arg(id)::text::uuid END
    UNION ALL
    SELECT s.user_id, s.id FROM signal_events AS e JOIN signals AS s ON s.id = e.signal_id
    WHERE e.id = CASE WHEN @kind = 'event' THEN sqlc.arg(id)::text::uuid END
    UNION ALL
    SELECT u.id, NULL FROM users AS u WHERE @kind = 'profile' AND u.handle = @id
    UNION ALL
    SELECT t.user_id, NULL FROM stations AS t WHERE @kind = 'station' AND t.station_id = @id
) AS a LIMIT 1;

-- name: FindModerated :one
-- Reports whether an object exists.
SELECT (CASE @kind::text
    WHEN 'signal' THEN EXISTS (SELECT FROM signals WHERE id = CASE WHEN @kind = 'signal' THEN sqlc.arg(id)::text::uuid END
            UNION ALL SELECT FROM unconfirmed_signals WHERE signal_id = CASE WHEN @kind = 'signal'
                THEN sqlc.arg(id)::text::uuid END)
    WHEN 'event' THEN EXISTS (SELECT FROM signal_events WHERE id = CASE WHEN @kind = 'event' THEN sqlc.arg(id)::text::uuid END)
    WHEN 'profile' THEN EXISTS (SELECT FROM users WHERE handle = @id::text)
    WHEN 'market' THEN EXISTS (SELECT FROM markets WHERE market_id = @id::text)
    ELSE EXISTS (SELECT FROM stations WHERE station_id = @id::text AND deleted_at IS NULL) END)::boolean AS found;

-- name: ListModerated :many
-- Returns the newest decisions.
SELECT kind, id, hidden, reason, decided_by, decided_at FROM moderation ORDER BY decided_at DESC, kind,
    id LIMIT sqlc.arg('limit');

-- name: ListHidden :many
-- Reports for each object whether it is hidden, in the given order. The id of a profile is that of its operator. Profiles and
-- stations of deleted accounts are hidden.
SELECT (is_hidden(t.kind, CASE
    WHEN t.kind = 'profile' THEN (SELECT u.handle FROM users AS u WHERE u.id = CASE WHEN t.kind = 'profile' THEN t.id::uuid END)
    ELSE t.id END) OR EXISTS (
        SELECT FROM users AS u WHERE u.erased_at IS NOT NULL AND u.id = CASE t.kind WHEN 'profile' THEN t.id::uuid
            WHEN 'station' THEN (SELECT s.user_id FROM stations AS s WHERE s.station_id = t.id) END))::boolean AS hidden
FROM unnest(@kinds::text[], @ids::text[]) WITH ORDINALITY AS t (kind, id, n)
ORDER BY t.n;

-- name: GetModerationDigest :one
-- Returns a digest of all decisions and of the number of deleted accounts. Each decision and each deletion changes it,
-- independent of the clock of the process that stored it.
SELECT concat((SELECT sum(hashtextextended(concat_ws('|', m.kind, m.id, m.hidden, m.decided_at), 0)::numeric) FROM moderation AS m), ' ',
    (SELECT count(*) FROM users AS u WHERE u.erased_at IS NOT NULL))::text AS digest;
