-- Network addresses of the entries of audit_log. They are deleted after 30 days; the entries remain, without an address.
CREATE TABLE audit_addresses (
    audit_id uuid PRIMARY KEY,
    at       timestamptz NOT NULL,
    ip       text NOT NULL
);
CREATE INDEX audit_addresses_age ON audit_addresses (at);
GRANT SELECT, DELETE ON audit_addresses TO hub_rw;

-- Stores the address of a new row of audit_log. It runs as the owner of the schema, so that no address can be added later.
CREATE FUNCTION keep_audit_address() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = hub, pg_temp AS $$
BEGIN
    INSERT INTO audit_addresses (audit_id, at, ip) VALUES (NEW.id, NEW.at, NEW.ip);
    NEW.ip := '';
    RETURN NEW;
END $$;
CREATE TRIGGER audit_log_address BEFORE INSERT ON audit_log FOR EACH ROW WHEN (NEW.ip <> '') EXECUTE FUNCTION keep_audit_address();

INSERT INTO audit_addresses (audit_id, at, ip) SELECT id, at, ip FROM audit_log WHERE ip <> '' AND at > now() - interval '30 days';
ALTER TABLE audit_log DISABLE TRIGGER audit_log_rows;
UPDATE audit_log SET ip = '' WHERE ip <> '';
ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_rows;
