-- The number of tapes (ready clips) of each market that the ledger has received last. Markets with 0 tapes have no row.
CREATE TABLE tape_reports (
    market_id text PRIMARY KEY,
    tapes     bigint NOT NULL CHECK (tapes > 0),
    at        timestamptz NOT NULL -- time of the report
);
GRANT SELECT, INSERT, UPDATE, DELETE ON tape_reports TO hub_rw;
