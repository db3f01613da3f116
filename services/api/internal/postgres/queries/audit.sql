INSERT INTO audit_log (at, actor, action, subject, data) VALUES ($1, $2, $3, $4, $5)
