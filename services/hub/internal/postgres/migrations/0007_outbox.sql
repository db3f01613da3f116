-- Facts on their way to the ledger's feed, in the order in which they were written.
CREATE TABLE outbox (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id  uuid NOT NULL DEFAULT gen_random_uuid(),
    type      text NOT NULL,
    at        timestamptz NOT NULL,
    market_id text,
    handle    text,
    topic     text,
    data      text NOT NULL CHECK (data !~ '\n')
) WITH (autovacuum_vacuum_scale_factor = 0.05);

GRANT SELECT, INSERT, DELETE ON outbox TO hub_rw;
