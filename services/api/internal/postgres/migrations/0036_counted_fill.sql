---- tern: disable-tx ----
-- Results of version 1.0 keep their score and do not count. A few operators per transaction, so
-- that claims and readers wait for one of them at most. It can be repeated.
DO $$
DECLARE last uuid;
BEGIN
    LOOP
        last := api.fill_records(last, 20);
        EXIT WHEN last IS NULL;
        COMMIT;
        PERFORM pg_sleep(0.01); -- lets waiting transactions take their locks
    END LOOP;
    LOOP
        last := api.fill_boards(last, 20);
        EXIT WHEN last IS NULL;
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
