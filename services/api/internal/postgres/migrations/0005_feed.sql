-- The outbox is a queue that writers fill in their own transaction. The relay
-- alone moves it into the feed and gives the numbers, in commit order.
CREATE TABLE outbox (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type      text NOT NULL,
    market_id text,
    user_id   uuid,
    signal_id uuid,
    event_id  uuid,
    data      jsonb,
    at        timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE protocol_events (
    seq       bigint NOT NULL,
    id        uuid NOT NULL,
    type      text NOT NULL,
    at        timestamptz NOT NULL,
    market_id text,
    provider  text,
    lane      text,
    user_id   uuid,
    signal_id uuid,
    data      jsonb NOT NULL,
    PRIMARY KEY (seq, at)
) PARTITION BY RANGE (at);
CREATE INDEX protocol_events_market ON protocol_events (market_id, seq DESC);
CREATE INDEX protocol_events_user ON protocol_events (user_id, seq DESC);
CREATE INDEX protocol_events_type ON protocol_events (type, seq DESC);
CREATE TABLE protocol_events_rest PARTITION OF protocol_events DEFAULT;

-- One row: the number given last, and the markets whose signal.resolved rows are
-- still to be numbered.
CREATE TABLE feed_head (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    seq      bigint NOT NULL
);
INSERT INTO feed_head (seq) VALUES (0);

CREATE TABLE feed_drains (
    market_id   text PRIMARY KEY,
    after_user  uuid,
    resolved_at timestamptz NOT NULL
);

-- Daily partitions: three days ahead are made, those past the keep time are
-- dropped. Runs as the owner, so the writing role needs no right to drop.
CREATE FUNCTION keep_feed(today date, keep_days integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp AS $$
DECLARE
    d date;
    p record;
    dropped integer := 0;
BEGIN
    FOR i IN 0..3 LOOP
        d := today + i;
        IF to_regclass(format('protocol_events_%s', to_char(d, 'YYYYMMDD'))) IS NULL
           AND NOT EXISTS (SELECT FROM protocol_events_rest WHERE at >= d AND at < d + 1) THEN
            EXECUTE format('CREATE TABLE protocol_events_%s PARTITION OF protocol_events FOR VALUES FROM (%L) TO (%L)',
                to_char(d, 'YYYYMMDD'), d::timestamptz, (d + 1)::timestamptz);
        END IF;
    END LOOP;
    FOR p IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'protocol_events'::regclass AND c.relname ~ '^protocol_events_[0-9]{8}$' LOOP
        IF to_date(right(p.relname, 8), 'YYYYMMDD') < today - greatest(keep_days, 90) THEN
            EXECUTE format('DROP TABLE %I', p.relname);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END $$;
REVOKE ALL ON FUNCTION keep_feed(date, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_feed(date, integer) TO api_rw;

DO $$
BEGIN
    CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON protocol_events FOR EACH ROW EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER no_truncate BEFORE TRUNCATE ON protocol_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
END $$;

GRANT SELECT, INSERT, DELETE ON outbox TO api_rw;
GRANT SELECT, INSERT ON protocol_events TO api_rw;
GRANT SELECT, UPDATE ON feed_head TO api_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON feed_drains TO api_rw;
