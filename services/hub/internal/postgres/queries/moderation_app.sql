-- Stores a decision about an application; no row: there is no such application. $1 app,
-- $2 hidden, $3 reason, $4 name of the administrator, $5 now.
INSERT INTO moderated_apps AS m (app_id, hidden, reason, decided_by, decided_at, original)
SELECT a.id, $2, $3, $4, $5, app_text(a.name, a.homepage, a.logo_url) FROM apps a WHERE a.id = $1
ON CONFLICT (app_id) DO UPDATE SET hidden = excluded.hidden, reason = excluded.reason, decided_by = excluded.decided_by,
    decided_at = excluded.decided_at, original = CASE WHEN m.hidden THEN m.original ELSE excluded.original END
RETURNING original
