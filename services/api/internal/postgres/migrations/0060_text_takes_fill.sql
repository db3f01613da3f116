---- tern: disable-tx ----
-- The rows of boards contain takes. A few operators per transaction, so that claims and readers
-- wait for one of them at most. It can be repeated.
DO $$
DECLARE last uuid;
BEGIN
    LOOP
        last := api.fill_boards(last, 20);
        EXIT WHEN last IS NULL;
        COMMIT;
        PERFORM pg_sleep(0.01); -- lets waiting transactions take their locks
    END LOOP;
END $$;
