---- tern: disable-tx ----
-- What the results of before are worth, a few operators a transaction: claims go on
-- meanwhile, and nobody waits longer than one of them takes. It may be run again.
DO $$
DECLARE last uuid;
BEGIN
    LOOP
        last := api.fill_records(last, 20);
        EXIT WHEN last IS NULL;
        COMMIT;
        PERFORM pg_sleep(0.01); -- who waits for a lock of the last ones comes first
    END LOOP;
END $$;
