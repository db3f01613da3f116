-- A deletion also removes the last copies of channels that have the handle of the account. The hub sends a new list of broadcasts.
CREATE FUNCTION forget_channels() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    DELETE FROM channel_copies WHERE channel IN ('operator:' || OLD.handle, 'overlay:' || OLD.handle)
        OR position('"' || OLD.handle || '"' IN data::text) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_channels AFTER UPDATE OF erased_at ON users FOR EACH ROW
    WHEN (OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL) EXECUTE FUNCTION forget_channels();
