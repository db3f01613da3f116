-- name: LockAppsOfOwner :exec
-- Serializes the registrations of one owner until the end of the transaction, so that the count of apps is exact.
SELECT pg_advisory_xact_lock(hashtextextended('apps of ' || @owner_id::text, 0));

-- name: CountApps :one
-- Counts active apps. It must run after LockAppsOfOwner as a separate statement, so that it sees rows committed during
-- the wait.
SELECT count(*) FROM apps WHERE owner_id = @owner_id AND disabled_at IS NULL;

-- name: InsertApp :exec
INSERT INTO apps (
    id, owner_id, kind, name, redirect_uris, scopes, homepage, logo_url, allowed_resources, secret_hash, old_secret_hash,
    old_secret_until, created_at, disabled_at
) VALUES (
    @id, @owner_id, @kind, @name, @redirect_uris, @scopes, @homepage, @logo_url, @allowed_resources, @secret_hash,
    @old_secret_hash, @old_secret_until, @created_at, @disabled_at
);

-- name: UpdateApp :exec
-- Changes an app. Its owner, kind and time of creation cannot change.
UPDATE apps SET
    name = @name, redirect_uris = @redirect_uris, scopes = @scopes, homepage = @homepage, logo_url = @logo_url,
    allowed_resources = @allowed_resources, secret_hash = @secret_hash, old_secret_hash = @old_secret_hash,
    old_secret_until = @old_secret_until, trusted_at = @trusted_at
WHERE id = @id;

-- name: DisableApp :exec
UPDATE apps SET disabled_at = @now::timestamptz, old_secret_hash = NULL, old_secret_until = NULL WHERE id = @id;

-- name: GetApp :one
SELECT sqlc.embed(a) FROM apps a WHERE a.id = @id;

-- name: ListApps :many
-- Returns at most 200 apps, the active ones first.
SELECT sqlc.embed(a)
FROM apps a
WHERE a.owner_id = @owner_id
ORDER BY a.disabled_at IS NULL DESC, a.created_at DESC, a.id DESC
LIMIT 200;

-- name: LockApp :one
-- Locks an app for a change. A null owner matches any owner.
SELECT sqlc.embed(a)
FROM apps a
WHERE a.id = @id AND (a.owner_id = sqlc.narg(owner_id)::uuid OR sqlc.narg(owner_id)::uuid IS NULL)
FOR NO KEY UPDATE;

-- name: ShareApp :one
-- Locks an app against changes until the end of the transaction, so that no grant of an app that is being disabled is
-- created.
SELECT sqlc.embed(a) FROM apps a WHERE a.id = @id FOR SHARE;

-- name: ModerateApp :one
-- Stores a decision about an app and returns the original texts of the app. Returns no row for an unknown app.
INSERT INTO moderated_apps AS m (app_id, hidden, reason, decided_by, decided_at, original)
SELECT a.id, @hidden, @reason, @decided_by, @decided_at, app_text(a.name, a.homepage, a.logo_url) FROM apps a WHERE a.id = @app_id
ON CONFLICT (app_id) DO UPDATE SET
    hidden = excluded.hidden, reason = excluded.reason, decided_by = excluded.decided_by, decided_at = excluded.decided_at,
    original = CASE WHEN m.hidden THEN m.original ELSE excluded.original END
RETURNING original;

-- name: UpdateAppText :exec
-- Writes the texts of an app. A trigger replaces them while the app is hidden.
UPDATE apps SET
    name = sqlc.arg(original)::jsonb ->> 'name', homepage = sqlc.arg(original)::jsonb ->> 'homepage',
    logo_url = sqlc.arg(original)::jsonb ->> 'logo_url'
WHERE id = @id;

-- name: ListModeratedApps :many
SELECT app_id AS id, hidden, reason, decided_by, decided_at FROM moderated_apps ORDER BY decided_at DESC, app_id LIMIT @max_rows;

-- name: LockReportsOfOperator :exec
-- Serializes the reports of one operator until the end of the transaction, so that their count is exact.
SELECT pg_advisory_xact_lock(hashtextextended('reports of ' || @reporter::text, 0));

-- name: InsertReport :execrows
-- Stores a report unless its reporter has max_reports reports after since.
INSERT INTO reports (id, reporter, kind, thing, reason, at)
SELECT @id, @reporter, @kind, @thing, @reason, @at
WHERE (SELECT count(*) FROM reports r WHERE r.reporter = @reporter AND r.at > @since) < @max_reports::bigint;
