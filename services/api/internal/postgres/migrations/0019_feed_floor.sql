-- The highest number that was dropped. Days are dropped by their time, and around
-- midnight the numbers of two days lie among one another: of those up to here, not all
-- are left.
CREATE TABLE feed_floor (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    seq      bigint NOT NULL
);
INSERT INTO feed_floor (seq)
SELECT coalesce((SELECT min(seq) - 1 FROM protocol_events), (SELECT seq FROM feed_head));
GRANT SELECT ON feed_floor TO api_rw;

CREATE OR REPLACE FUNCTION keep_feed() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    today date := now()::date;
    d date;
    p record;
    last bigint;
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
        d := to_date(right(p.relname, 8), 'YYYYMMDD');
        IF d < today - 90 THEN
            SELECT max(seq) INTO last FROM protocol_events WHERE at >= d AND at < d + 1;
            UPDATE feed_floor SET seq = greatest(seq, last);
            EXECUTE format('DROP TABLE %I', p.relname);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END $$;
