---- tern: disable-tx ----
-- Indexes the markets of before again, for the new words and the new order. It can be repeated.
DO $$
DECLARE last text := '';
BEGIN
    LOOP
        last := api.fill_search(last, 200);
        EXIT WHEN last IS NULL;
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
