-- Sessions. The cookie names the operator and the second of issue; that pair is never
-- used twice. A session that has no row here is void.
CREATE TABLE sessions (
    user_id      uuid NOT NULL,
    issued_at    timestamptz NOT NULL CHECK (issued_at = date_trunc('second', issued_at)),
    signed_in_at timestamptz NOT NULL, -- by the identity provider's clock
    bind_hash    bytea CHECK (octet_length(bind_hash) = 32), -- null: not bound to a browser
    ended_at     timestamptz,
    PRIMARY KEY (user_id, issued_at)
);
CREATE INDEX sessions_age ON sessions (issued_at);

GRANT SELECT, INSERT, UPDATE (ended_at), DELETE ON sessions TO hub_rw;
