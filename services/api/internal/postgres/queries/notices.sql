-- name: InsertSkilled :many
-- Of the given operators, marks those who show skill for the first time, and returns them. Closed accounts are not marked.
INSERT INTO skilled_operators (user_id, at)
SELECT u.id, @now::timestamptz FROM users AS u WHERE u.id = ANY (@user_ids::uuid[]) AND u.closing_at IS NULL ORDER BY u.id
ON CONFLICT DO NOTHING
RETURNING user_id;

-- name: InsertSkillNotices :exec
INSERT INTO notices (user_id, kind, key, text, at)
SELECT u.id, 'skill_confirmed', 'first', '', @now::timestamptz FROM unnest(@user_ids::uuid[]) AS u (id)
ON CONFLICT DO NOTHING;

-- name: InsertWebhookNotice :exec
-- Stores that a webhook was deactivated after failures. An activation changes the revision, so each deactivation is one fact. The text
-- is the host of the URL, because the rest may be a secret.
INSERT INTO notices (user_id, kind, key, text, at)
SELECT w.user_id, 'webhook_deactivated', w.id || ' ' || w.revision, substring(w.url FROM '//([^/?]*)'), @at FROM webhooks AS w WHERE w.id = @id
ON CONFLICT DO NOTHING;

-- name: ListNotices :many
-- Returns notices after an id, the first stored first.
SELECT id, user_id, kind, key, text, at FROM notices WHERE id > @after ORDER BY id LIMIT sqlc.arg('limit');

-- name: DeleteOldNotices :exec
DELETE FROM notices WHERE at < @before;
