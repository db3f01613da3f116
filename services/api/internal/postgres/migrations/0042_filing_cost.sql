-- The row of the newest quote is in quotes: a call compared with it need not store it.
ALTER TABLE market_quotes ADD COLUMN quote_stored boolean NOT NULL DEFAULT false;

-- Checks inserted calls in one pass. For api_rw it reads no catalog, because it runs at every
-- filing.
CREATE OR REPLACE FUNCTION check_new_signals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    oldest  timestamptz := clock_timestamp() - interval '1 minute';
    newest  timestamptz := clock_timestamp() + interval '1 minute';
    misdated boolean;
    resolved boolean;
BEGIN
    IF current_user <> 'api_rw' THEN -- nested: the common role must not cause the lookup
        IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
            IF current_setting('signalcast.signals_inserted', true) IS DISTINCT FROM 'true' THEN
                INSERT INTO api.audit_log (at, actor, action, subject, data)
                SELECT clock_timestamp(), current_user, 'signals.inserted', 'signals', jsonb_build_object('session', pg_backend_pid(), 'application', current_setting('application_name'));
                PERFORM set_config('signalcast.signals_inserted', 'true', false);
            END IF;
            RETURN NULL;
        END IF;
    END IF;
    -- By key, one by one: the plan is kept while the table of resolutions grows.
    SELECT bool_or(i.created_at NOT BETWEEN oldest AND newest), bool_or(r.found)
    INTO misdated, resolved
    FROM inserted i
    LEFT JOIN LATERAL (SELECT true AS found FROM api.market_resolutions WHERE market_id = i.market_id LIMIT 1) r ON true;
    IF misdated THEN
        RAISE EXCEPTION 'created_at of a call is more than a minute from the clock of the database' USING ERRCODE = 'SC001';
    END IF;
    IF resolved THEN
        RAISE EXCEPTION 'the market of a call is resolved' USING ERRCODE = 'SC001';
    END IF;
    RETURN NULL;
END $$;

-- Each second the native markets whose cutoff has passed are closed.
CREATE INDEX markets_cutoff ON markets (end_date) WHERE provider = 'manual' AND status = 'open';
