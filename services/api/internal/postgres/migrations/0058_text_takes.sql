-- A call with a text counts as one take at the time of the call, like a later event of type take.
CREATE FUNCTION count_text_takes() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM inserted WHERE text_take <> '') THEN
        RETURN NULL;
    END IF;
    -- In the order of the keys, so that concurrent statements do not deadlock.
    INSERT INTO market_takes AS t (market_id, takes)
    SELECT market_id, count(*) FROM inserted WHERE text_take <> '' GROUP BY market_id ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET takes = t.takes + excluded.takes;
    INSERT INTO operator_takes AS t (user_id, takes)
    SELECT user_id, count(*) FROM inserted WHERE text_take <> '' GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET takes = t.takes + excluded.takes;
    RETURN NULL;
END $$;
CREATE TRIGGER count_text_takes AFTER INSERT ON signals
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION count_text_takes();

-- The calls of before. CREATE TRIGGER has locked the table, so that each call is counted once.
INSERT INTO market_takes AS t (market_id, takes)
SELECT market_id, count(*) FROM signals WHERE text_take <> '' GROUP BY market_id
ON CONFLICT (market_id) DO UPDATE SET takes = t.takes + excluded.takes;
INSERT INTO operator_takes AS t (user_id, takes)
SELECT user_id, count(*) FROM signals WHERE text_take <> '' GROUP BY user_id
ON CONFLICT (user_id) DO UPDATE SET takes = t.takes + excluded.takes;
INSERT INTO operator_aged AS a (user_id, lane, calls, takes, score, done)
SELECT s.user_id, '', 0, count(*), 0, 0 FROM signals s
WHERE s.text_take <> '' AND s.created_at < (SELECT b.since FROM board_state b) GROUP BY s.user_id
ON CONFLICT (user_id, lane) DO UPDATE SET takes = a.takes + excluded.takes;
