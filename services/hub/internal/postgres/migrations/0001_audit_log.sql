-- What admins and the scheduler asked for, and how it ended: two rows an act.
-- Rows are only added. The writing role has no other right, and the triggers
-- refuse the owner as well.
CREATE TABLE audit_log (
    id         uuid PRIMARY KEY, -- v7
    at         timestamptz NOT NULL,
    stage      text NOT NULL CHECK (stage IN ('asked', 'answered')),
    actor      text NOT NULL CHECK (actor IN ('admin', 'cron')),
    action     text NOT NULL, -- method and route
    target     text NOT NULL,
    request_id text NOT NULL,
    ip         text NOT NULL,
    code       text NOT NULL, -- ok or the code of the fault; empty while asked
    detail     jsonb NOT NULL
);
CREATE INDEX audit_log_at ON audit_log (at DESC);
CREATE INDEX audit_log_target ON audit_log (target, at DESC) WHERE target <> '';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_log_rows BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_truncate BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_rows;
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_truncate;

GRANT SELECT, INSERT ON audit_log TO hub_rw;
