-- What the hub is about to do and will attest: written before it is asked for in
-- the ledger, deleted once it is attested or certain not to have happened.
CREATE TABLE attestations_due (
    subject text PRIMARY KEY, -- what will be attested
    body    text NOT NULL,    -- JSON: all that the ledger does not say
    at      timestamptz NOT NULL
);
CREATE INDEX attestations_due_age ON attestations_due (at);

GRANT SELECT, INSERT, DELETE ON attestations_due TO hub_rw;
