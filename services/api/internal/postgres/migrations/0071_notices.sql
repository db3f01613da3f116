-- Private facts about operators that only the ledger knows, of which the hub notifies them. A writer locks the order of the ids from
-- the first id until the commit, so that ids become visible in ascending order, and a reader that continues after an id misses none.
-- There is no foreign key: its lock would wait for the deletion of an account, which waits for the webhook of the writer.
CREATE TABLE notices (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id uuid NOT NULL,
    kind    text NOT NULL CHECK (kind IN ('skill_confirmed', 'webhook_deactivated')),
    key     text NOT NULL, -- identifies the fact among those of its operator and kind
    text    text NOT NULL, -- for the operator: the host of the webhook
    at      timestamptz NOT NULL,
    UNIQUE (user_id, kind, key)
);
CREATE INDEX notices_age ON notices (at);
GRANT SELECT, INSERT, DELETE ON notices TO api_rw;

CREATE FUNCTION order_notices() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7201018);
    RETURN NULL;
END $$;
CREATE TRIGGER order_notices BEFORE INSERT ON notices FOR EACH STATEMENT EXECUTE FUNCTION order_notices();

-- Operators whose calls have shown skill: the interval of their edge was above zero. Each operator gets one notice, ever. Operators who
-- show skill at this migration get none.
CREATE TABLE skilled_operators (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    at      timestamptz NOT NULL
);
GRANT SELECT, INSERT ON skilled_operators TO api_rw;
INSERT INTO skilled_operators (user_id, at) SELECT user_id, now() FROM board_rows WHERE lane = '' AND skill_calls > 0 AND low_bps > 0;

-- The export of an account has its notices.
DO $$ BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW personal_rows AS ' || rtrim(pg_get_viewdef('personal_rows'::regclass), ';') || $view$
    UNION ALL
    SELECT 'notices', user_id, NULL::text, lpad(id::text, 20, '0'), json_build_object('kind', kind, 'key', key, 'text', text, 'at', at)::text FROM notices
    $view$;
END $$;
