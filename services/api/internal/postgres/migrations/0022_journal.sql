-- The journal of the record: for each row that is written once, the hash that it had
-- when it was sealed, in the order of the feed. The hashes are the leaves of one tree
-- (RFC 6962), and each checkpoint is a signed root of it. Nothing that files or claims
-- writes here: a sealer follows the feed.
CREATE TABLE journal_leaves (
    n    bigint PRIMARY KEY, -- 0, 1, 2 … without a gap
    kind smallint NOT NULL CHECK (kind BETWEEN 1 AND 4), -- signal, result, event, resolution
    of   text NOT NULL, -- the row's key
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    UNIQUE (kind, of)
);

CREATE TABLE journal_checkpoints (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    size     bigint NOT NULL CHECK (size >= 0),
    edge     bytea[] NOT NULL, -- roots of the full trees that make up this one, largest first
    feed_seq bigint NOT NULL, -- what the feed told up to here is sealed
    filling  boolean NOT NULL, -- rows from before are still being sealed
    note     text NOT NULL, -- the signed root
    at       timestamptz NOT NULL
);

DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['journal_leaves', 'journal_checkpoints'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', t);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', t);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_change', t);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_truncate', t);
    END LOOP;
END $$;

GRANT SELECT, INSERT ON journal_leaves, journal_checkpoints TO api_rw;
