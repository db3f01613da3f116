-- What is old is said by the database's own clock and the keep time stands here:
-- the writing role may ask at any time and can have nothing young dropped. Days
-- are those of UTC, whatever the caller's session says.
CREATE FUNCTION keep_feed() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    today date := now()::date;
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
        IF to_date(right(p.relname, 8), 'YYYYMMDD') < today - 90 THEN
            EXECUTE format('DROP TABLE %I', p.relname);
            dropped := dropped + 1;
        END IF;
    END LOOP;
    RETURN dropped;
END $$;
REVOKE ALL ON FUNCTION keep_feed() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_feed() TO api_rw;

-- It took the day from its caller. A program that still asks for it goes on: the
-- days ahead are there already, and what comes after them has the default partition.
DROP FUNCTION keep_feed(date, integer);
