INSERT INTO audit_log (id, at, stage, actor, action, target, request_id, ip, code, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
