---- tern: disable-tx ----
-- called_at: time of the newest call on the market. Quotes of a market are stored while it is
-- recent. Filing writes the row anyway.
ALTER TABLE market_totals ADD COLUMN IF NOT EXISTS called_at timestamptz;

-- Calls are dated by the database and end with the market: a program that inserts others is
-- refused. The statement is checked once, over the rows that it inserted. The owner of the
-- schema is exempt (recovery, seeds, history of a demo); each of its sessions that inserts
-- calls leaves one entry in the audit log.
CREATE OR REPLACE FUNCTION check_new_signals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
        IF current_setting('signalcast.signals_inserted', true) IS DISTINCT FROM 'true' THEN
            INSERT INTO api.audit_log (at, actor, action, subject, data)
            SELECT clock_timestamp(), current_user, 'signals.inserted', 'signals', jsonb_build_object('session', pg_backend_pid(), 'application', current_setting('application_name'));
            PERFORM set_config('signalcast.signals_inserted', 'true', false);
        END IF;
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT FROM inserted WHERE abs(extract(epoch FROM created_at - clock_timestamp())) > 60) THEN
        RAISE EXCEPTION 'created_at of a call is more than a minute from the clock of the database' USING ERRCODE = 'SC001';
    END IF;
    IF EXISTS (SELECT FROM inserted i WHERE EXISTS (SELECT FROM api.market_resolutions r WHERE r.market_id = i.market_id)) THEN
        RAISE EXCEPTION 'the market of a call is resolved' USING ERRCODE = 'SC001';
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS check_new ON signals;
CREATE TRIGGER check_new AFTER INSERT ON signals
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION check_new_signals();
