SELECT 'app', app_id::text, hidden, reason, decided_by, decided_at FROM moderated_apps ORDER BY decided_at DESC, app_id LIMIT $1
