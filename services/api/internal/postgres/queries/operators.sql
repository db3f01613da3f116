-- name: GetOperatorByIdentity :one
-- Returns the operator of an identity at a provider.
SELECT sqlc.embed(u) FROM users AS u WHERE u.issuer = @issuer AND u.provider_id = @provider_id;

-- name: GetOperator :one
-- Returns an operator by present or former handle, or by id if the handle is empty.
SELECT sqlc.embed(u) FROM users AS u
WHERE u.id = CASE WHEN @handle::text = '' THEN sqlc.narg(id)::uuid ELSE operator_of(lower(@handle)) END;

-- name: LockHandle :one
-- Locks an operator whose account is open, and returns its handle with the times of the choice and of the last change.
SELECT handle, created_at, handle_chosen_at, handle_changed_at FROM users WHERE id = @user_id AND closing_at IS NULL FOR UPDATE;

-- name: ChangeHandle :exec
-- Replaces the handle of an operator. The former handle is reserved until a time.
SELECT change_handle(@user_id::uuid, @handle::text, @until::timestamptz);

-- name: MarkHandle :exec
-- Stores the time of the choice or of a change of a handle.
UPDATE users SET
    handle_chosen_at = CASE WHEN @first::boolean THEN @now::timestamptz ELSE handle_chosen_at END,
    handle_changed_at = CASE WHEN @first THEN handle_changed_at ELSE @now END
WHERE id = @user_id;

-- name: DeleteOldFormerHandles :exec
DELETE FROM former_handles WHERE until <= @now;

-- name: FindOperators :many
-- Returns operators whose handle or display name begins with @prefix, which is in lower case. @beyond is a text after all texts
-- with this prefix. The operator with this handle is first, then those with the most calls. At most 200 operators by each index are
-- compared, so that a short prefix costs no more than a long one.
WITH found AS (
    (SELECT h.id FROM users AS h WHERE h.handle ~>=~ @prefix::text AND h.handle ~<~ @beyond::text ORDER BY h.handle USING ~<~ LIMIT 200)
    UNION
    (SELECT n.id FROM users AS n WHERE lower(n.display_name) ~>=~ @prefix AND lower(n.display_name) ~<~ @beyond
        ORDER BY lower(n.display_name) USING ~<~ LIMIT 200)
)
SELECT sqlc.embed(u) FROM found AS f
JOIN users AS u ON u.id = f.id
LEFT JOIN operator_totals AS t ON t.user_id = u.id
ORDER BY (u.handle = @prefix) DESC, coalesce(t.total, 0) DESC, u.handle
LIMIT @most;

-- name: ListOperatorsByID :many
SELECT sqlc.embed(u) FROM users AS u WHERE u.id = ANY (@ids::uuid[]);

-- name: InsertOperator :exec
-- Stores a new operator with the counters that a claim updates, and the deleted accounts of the same person. Changes nothing if the
-- handle or the identity is taken, or if the handle was that of another operator.
WITH u AS (
    INSERT INTO users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    SELECT @id, @issuer, @provider_id, @public_id, @handle, @display_name, @created_at
    WHERE NOT EXISTS (SELECT FROM former_handles AS h WHERE h.handle = @handle)
    ON CONFLICT DO NOTHING
    RETURNING id, crowd
), scores AS (
    INSERT INTO operator_scores (user_id) SELECT id FROM u
), former AS (
    INSERT INTO former_accounts (user_id, former_id, erased_at)
    SELECT u.id, f.id, f.erased_at FROM u, users AS f WHERE f.id = ANY (@former::uuid[]) AND f.erased_at IS NOT NULL
)
INSERT INTO operator_totals (user_id, crowd) SELECT u.id, u.crowd FROM u;

-- name: ClassifyOperator :one
-- Changes the type of an operator, whether it is a house operator or a seeded profile, and the tier of its keys; null leaves
-- a member unchanged. A profile that becomes seeded becomes a system_bot, unless another type is given. step is the
-- resulting change of the crowd of a market for each call of the operator: 1, 0 or -1.
WITH before AS (
    SELECT u.id, u.crowd FROM users AS u WHERE u.handle = lower(@handle) FOR UPDATE
), changed AS (
    UPDATE users SET
        operator_type = coalesce(sqlc.narg(operator_type)::text, CASE WHEN sqlc.narg(seeded)::boolean THEN 'system_bot' END,
            operator_type),
        is_house = coalesce(sqlc.narg(is_house), is_house),
        seeded = coalesce(sqlc.narg(seeded)::boolean, seeded),
        key_tier = coalesce(sqlc.narg(key_tier)::text, key_tier)
    WHERE users.id = (SELECT before.id FROM before)
    RETURNING users.id, crowd, operator_type, is_house, seeded, key_tier
), counted AS (
    INSERT INTO operator_totals (user_id, crowd) SELECT id, crowd FROM changed
    ON CONFLICT (user_id) DO UPDATE SET crowd = excluded.crowd
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT @now, @actor, 'operator.classified', id::text, jsonb_build_object('operatorType', operator_type, 'house', is_house,
        'seeded', seeded, 'keyTier', key_tier)
        FROM changed
)
SELECT c.id, (c.crowd::integer - b.crowd::integer)::integer AS step
FROM changed AS c JOIN before AS b ON b.id = c.id;

-- name: SetKeyTier :exec
-- Sets the tier of the active keys of an operator. It must run after ClassifyOperator: a statement that waits for the lock of
-- the operator would not see a key that was committed during the wait.
UPDATE operator_keys SET tier = @tier WHERE user_id = @user_id AND revoked_at IS NULL AND tier <> @tier;

-- name: MoveCrowd :exec
-- Adds @step for each call of an operator to the crowd of its market, and updates the price of the open native markets
-- among them. It runs after the counter row of the operator is locked and therefore includes every call that was
-- counted before.
WITH called AS (
    -- In the order in which filing statements lock these rows.
    SELECT t.market_id, s.yes
    FROM signals AS s JOIN market_totals AS t ON t.market_id = s.market_id
    WHERE s.user_id = @user_id
    ORDER BY t.market_id
    FOR UPDATE OF t
), counted AS (
    UPDATE market_totals AS t SET
        crowd_yes = t.crowd_yes + CASE WHEN c.yes THEN @step::integer ELSE 0 END,
        crowd_no = t.crowd_no + CASE WHEN c.yes THEN 0 ELSE @step::integer END
    FROM called AS c WHERE t.market_id = c.market_id
    RETURNING t.market_id, t.crowd_yes, t.crowd_no
), native AS (
    INSERT INTO market_quotes (market_id, at, yes_bps)
    SELECT c.market_id, @now::timestamptz, least(9900, greatest(100,
        round((8.0 * m.initial_yes_bps + 10000.0 * c.crowd_yes) / (8 + c.crowd_yes + c.crowd_no))))::integer
    FROM counted AS c JOIN markets AS m ON m.market_id = c.market_id
    WHERE m.initial_yes_bps IS NOT NULL AND m.status = 'open'
    ORDER BY c.market_id
    FOR SHARE OF m
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at, yes_bps = excluded.yes_bps
    RETURNING market_id, yes_bps
)
INSERT INTO market_prices (market_id, at, yes_bps)
SELECT market_id, @now::timestamptz, yes_bps FROM native
ON CONFLICT (market_id, at) DO UPDATE SET yes_bps = excluded.yes_bps;

-- name: UpdateProfile :exec
-- Changes the members that are given. @set_avatar, @set_links and @set_payout state whether the nullable members are
-- given. @automated: a human declares itself an ai_agent. This does not change the crowd, because both types count.
WITH before AS (
    SELECT o.id, o.payout_address, o.operator_type FROM users AS o WHERE o.id = @user_id FOR UPDATE
), after AS (
    UPDATE users AS u SET display_name = coalesce(sqlc.narg(display_name)::text, u.display_name),
        bio = coalesce(sqlc.narg(bio)::text, u.bio),
        avatar_url = CASE WHEN @set_avatar::boolean THEN sqlc.narg(avatar_url)::text ELSE u.avatar_url END,
        links = CASE WHEN @set_links::boolean THEN sqlc.narg(links)::text[] ELSE u.links END,
        payout_address = CASE WHEN @set_payout::boolean THEN sqlc.narg(payout_address)::text ELSE u.payout_address END,
        operator_type = CASE WHEN @automated::boolean AND u.operator_type = 'human' THEN 'ai_agent' ELSE u.operator_type END
    FROM before AS b
    WHERE u.id = b.id
    RETURNING u.id, u.payout_address, u.operator_type, b.payout_address AS old_payout, b.operator_type AS old_type
)
INSERT INTO audit_log (at, actor, action, subject, data)
SELECT @now::timestamptz, id::text, 'operator.payout_changed', id::text, jsonb_build_object('from', old_payout, 'to',
    payout_address)
FROM after WHERE payout_address IS DISTINCT FROM old_payout
UNION ALL
SELECT @now::timestamptz, id::text, 'operator.declared_automated', id::text, jsonb_build_object('operatorType', operator_type)
FROM after WHERE operator_type <> old_type;

-- name: EndSessions :one
-- Increments the session version of an operator. Sessions contain the version; those with an older one are invalid.
WITH changed AS (
    UPDATE users AS u SET session_version = u.session_version + 1 WHERE u.id = @user_id RETURNING u.id, u.session_version
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT @now, id::text, 'operator.sessions_ended', id::text, jsonb_build_object('sessionVersion', session_version) FROM changed
)
SELECT session_version FROM changed;

-- name: LockOperator :one
-- Locks an operator. Insertions of keys, webhooks and similar objects of one operator are serialized, so that their
-- count is exact.
SELECT id FROM users WHERE id = @user_id FOR UPDATE;

-- name: CountActiveKeys :one
-- Counts the active keys of an operator. It must run after LockOperator: a statement that waits for the lock would not
-- see a key that was committed during the wait.
SELECT count(*) FROM operator_keys WHERE user_id = @user_id AND revoked_at IS NULL;

-- name: InsertKey :one
-- Stores a new key and returns its tier.
INSERT INTO operator_keys (id, user_id, hash, prefix, last4, label, tier, permissions, created_at, strict)
VALUES (@id, @user_id, @hash, @prefix, @last4, @label, (SELECT u.key_tier FROM users AS u WHERE u.id = @user_id), @permissions,
    @created_at, @strict)
RETURNING tier;

-- name: ListKeys :many
-- Returns the keys of an operator, newest first.
SELECT sqlc.embed(k) FROM operator_keys AS k WHERE k.user_id = @user_id ORDER BY k.created_at DESC, k.id DESC;

-- name: RevokeKey :one
-- Revokes a key of an operator. A repetition preserves the first time.
UPDATE operator_keys AS k SET revoked_at = coalesce(revoked_at, @now)
WHERE id = @id AND user_id = @user_id
RETURNING sqlc.embed(k);

-- name: ListRevokedKeys :many
-- Returns those of the given keys that are revoked or unknown.
SELECT i.id::uuid AS id FROM unnest(@ids::uuid[]) AS i (id)
WHERE NOT EXISTS (SELECT 1 FROM operator_keys AS k WHERE k.id = i.id AND k.revoked_at IS NULL);

-- name: MarkKeysUsed :exec
-- Stores the last use of keys, at most once a minute for each key. It skips a key that another transaction is updating.
UPDATE operator_keys SET last_used_at = @now::timestamptz
WHERE hash IN (
    SELECT k.hash FROM operator_keys AS k
    WHERE k.hash = ANY (@hashes::bytea[]) AND k.revoked_at IS NULL
        AND (k.last_used_at IS NULL OR k.last_used_at < sqlc.arg(now)::timestamptz - interval '1 minute')
    FOR UPDATE SKIP LOCKED);

-- name: VerifyKey :one
-- Returns the key with this hash and its operator. The key may be revoked. last_used_at of an active key is written at most once
-- a minute.
WITH used AS (
    UPDATE operator_keys AS o SET last_used_at = @now::timestamptz
    WHERE o.hash = @hash AND o.revoked_at IS NULL
        AND (o.last_used_at IS NULL OR o.last_used_at < sqlc.arg(now)::timestamptz - interval '1 minute')
)
SELECT sqlc.embed(u), sqlc.embed(k)
FROM operator_keys AS k JOIN users AS u ON u.id = k.user_id
WHERE k.hash = @hash;

-- name: LockSender :one
-- Returns the tier of the operator who signed a message and locks the operator, so that messages of one operator are
-- processed one after the other.
SELECT tier FROM users WHERE id = @user_id FOR NO KEY UPDATE;

-- name: GetMessageSubject :one
-- Returns the subject that a signed message changed, if the message was executed.
SELECT subject FROM message_effects WHERE message_id = @message_id;

-- name: CountRecentMessages :one
-- Counts the newest messages of a type since @since, at most @most, and returns the time of the oldest of them.
SELECT count(*) AS n, coalesce(min(recent.at), @since::timestamptz)::timestamptz AS oldest
FROM (
    SELECT e.at FROM message_effects AS e
    WHERE e.user_id = @user_id AND e.type = @type AND e.at > @since::timestamptz ORDER BY e.at DESC LIMIT @most
) AS recent;

-- name: InsertMessage :exec
-- Stores that a signed message was executed.
INSERT INTO message_effects (message_id, type, user_id, subject, at) VALUES (@message_id, @type, @user_id, @subject, @at);

-- name: InsertAudit :exec
-- Adds an entry to the audit log.
INSERT INTO audit_log (at, actor, action, subject, data) VALUES (@at, @actor, @action, @subject, @data);

-- name: CloseAccount :one
-- Closes an account, revokes its keys and deactivates its webhooks. A repetition preserves the first time.
WITH changed AS (
    UPDATE users AS u SET closing_at = coalesce(u.closing_at, @now::timestamptz) WHERE u.id = @user_id RETURNING u.id, u.closing_at
), keys AS (
    UPDATE operator_keys AS k SET revoked_at = @now::timestamptz WHERE k.user_id = @user_id AND k.revoked_at IS NULL
), hooks AS (
    UPDATE webhooks AS w SET active = false, reason = 'key_revoked', failing_since = NULL, next_at = NULL WHERE w.user_id = @user_id AND w.active
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject) SELECT @now::timestamptz, c.id::text, 'operator.closed', c.id::text FROM changed AS c
)
SELECT c.closing_at::timestamptz AS closing_at FROM changed AS c;

-- name: ReopenAccount :one
-- Opens an account that was closed after a time. Returns false if it was closed earlier or is erased. An open account stays open.
WITH changed AS (
    UPDATE users AS u SET closing_at = NULL WHERE u.id = @user_id AND u.closing_at > @since::timestamptz AND u.erased_at IS NULL RETURNING u.id
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject) SELECT @now::timestamptz, c.id::text, 'operator.reopened', c.id::text FROM changed AS c
)
SELECT (EXISTS (
    SELECT FROM users AS u WHERE u.id = @user_id AND u.erased_at IS NULL AND (u.closing_at IS NULL OR u.closing_at > @since::timestamptz)
))::boolean AS open;

-- name: ListClosing :many
-- Returns accounts that were closed before a time and are not erased.
SELECT sqlc.embed(u) FROM users AS u WHERE u.closing_at <= @before::timestamptz AND u.erased_at IS NULL ORDER BY u.closing_at LIMIT 100;

-- name: EraseReferences :exec
-- Erases the addresses of the stations of a closed account, its former handles, its notices, and its handle among the broadcasts of
-- markets.
WITH closed AS (
    SELECT u.id, u.handle, 'deleted-' || left(u.public_id, 12) AS replacement FROM users AS u WHERE u.id = @user_id AND u.closing_at IS NOT NULL
), site AS (
    UPDATE stations AS s SET url = 'https://deleted.invalid', origin_url = 'https://deleted.invalid' FROM closed AS c WHERE s.user_id = c.id
), former AS (
    DELETE FROM former_handles AS f USING closed AS c WHERE f.user_id = c.id
), deleted_notices AS (
    DELETE FROM notices AS n USING closed AS c WHERE n.user_id = c.id
)
UPDATE market_live AS m SET handle = c.replacement FROM closed AS c WHERE m.handle = c.handle;

-- name: EraseAccount :one
-- Erases a closed account and returns false if the account is not closed.
SELECT erase_account(@user_id::uuid, @now::timestamptz)::boolean AS erased;

-- name: FindErased :one
-- Returns the erased account with a public id.
SELECT id, erased_at::timestamptz AS erased_at FROM users WHERE public_id = @public_id AND erased_at IS NOT NULL;

-- name: DeleteOldFormerAccounts :exec
DELETE FROM former_accounts WHERE erased_at <= @before;
