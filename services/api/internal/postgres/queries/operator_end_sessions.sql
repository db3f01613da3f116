-- Sessions carry the version; those of an older one are void.
WITH u AS (
    UPDATE users SET session_version = session_version + 1 WHERE id = $1 RETURNING id, session_version
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT $2, id::text, 'operator.sessions_ended', id::text, jsonb_build_object('sessionVersion', session_version) FROM u
)
SELECT session_version FROM u
