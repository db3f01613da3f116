-- Changes of handles that may be incomplete: the ledger may have replaced the handle before the hub moved what it stores under it.
CREATE TABLE handle_changes (
    user_id    uuid NOT NULL,
    handle     text NOT NULL, -- before the change
    started_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, handle)
);
CREATE INDEX handle_changes_age ON handle_changes (started_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON handle_changes TO hub_rw;

-- Moves what is stored under the former handle of an operator. Rows that the operator stored under the new handle in the meantime are
-- replaced. A repetition changes nothing.
CREATE FUNCTION move_handle(who uuid, former text, wanted text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = hub, pg_temp AS $$
BEGIN
    DELETE FROM streamer_profiles n USING streamer_profiles f WHERE n.handle = wanted AND f.handle = former;
    DELETE FROM overlay_signals n USING overlay_signals f WHERE n.handle = wanted AND f.handle = former;
    DELETE FROM ingest_streams n USING ingest_streams f WHERE n.handle = wanted AND f.handle = former;
    DELETE FROM streams n USING streams f WHERE n.handle = wanted AND f.handle = former AND f.market_id = n.market_id;
    DELETE FROM short_links n USING short_links f WHERE n.type = 'operator' AND n.id = wanted AND f.type = 'operator' AND f.id = former;
    UPDATE streamer_profiles SET handle = wanted WHERE handle = former;
    UPDATE overlay_signals SET handle = wanted WHERE handle = former;
    UPDATE overlay_sets SET handle = wanted WHERE handle = former;
    UPDATE ingest_streams SET handle = wanted WHERE handle = former;
    UPDATE streams SET handle = wanted WHERE handle = former;
    UPDATE short_links SET id = wanted WHERE type = 'operator' AND id = former;
    UPDATE live_sessions SET handle = wanted WHERE handle = former;
    UPDATE clips SET handle = wanted WHERE handle = former;
    UPDATE clips SET created_by = wanted WHERE created_by = former;
    UPDATE spotlight SET handle = wanted WHERE handle = former;
    UPDATE reports SET thing = wanted WHERE kind = 'profile' AND thing = former;
    UPDATE follows SET noticed_as = wanted WHERE follower = who AND noticed_as = former;
    UPDATE notifications SET handle = wanted WHERE actor = who AND handle = former;
    UPDATE notification_fanouts SET handle = wanted WHERE actor = who AND handle = former;
    DELETE FROM live_heads WHERE split_part(channel, ':', 2) = former;
END $$;
REVOKE ALL ON FUNCTION move_handle(uuid, text, text) FROM public;
GRANT EXECUTE ON FUNCTION move_handle(uuid, text, text) TO hub_rw;
