Guarantee: E4
Test: TestResumedReadersReceiveEveryEventOnce
Package: ./test/system/feed
Fault: the relay reads only facts after the last identity number, so a fact with a smaller number that commits later is lost

-- The relay sees and deletes only rows of the outbox with an id above the largest one that it has deleted.
CREATE TABLE api.fault_seen (last bigint NOT NULL);
INSERT INTO api.fault_seen VALUES (0);
GRANT SELECT ON api.fault_seen TO api_rw;
CREATE FUNCTION api.fault_see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp AS $$
BEGIN
    UPDATE fault_seen SET last = greatest(last, (SELECT max(id) FROM deleted));
    RETURN NULL;
END $$;
CREATE TRIGGER fault_see AFTER DELETE ON api.outbox REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION api.fault_see();
ALTER TABLE api.outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY fault_write ON api.outbox FOR INSERT TO api_rw WITH CHECK (true);
CREATE POLICY fault_read ON api.outbox FOR SELECT TO api_rw USING (id > (SELECT last FROM api.fault_seen));
CREATE POLICY fault_take ON api.outbox FOR DELETE TO api_rw USING (id > (SELECT last FROM api.fault_seen));
