-- The feed as signed requests. Secrets are sealed by the service; everything up to
-- taken was taken, and delivery_id with through is the delivery under way.
CREATE TABLE webhooks (
    id            uuid PRIMARY KEY,
    user_id       uuid NOT NULL REFERENCES users (id),
    url           text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 500),
    channels      text[] NOT NULL CHECK (cardinality(channels) BETWEEN 1 AND 20),
    types         text[] NOT NULL,
    description   text CHECK (char_length(description) <= 200),
    active        boolean NOT NULL DEFAULT true,
    reason        text,
    created_at    timestamptz NOT NULL,
    revision      integer NOT NULL DEFAULT 1,
    secret        bytea NOT NULL,
    old_secret    bytea,
    old_until     timestamptz,
    tested_at     timestamptz,
    taken         bigint NOT NULL CHECK (taken >= 0),
    delivery_id   uuid,
    through       bigint,
    attempt       integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    next_at       timestamptz,
    CHECK ((delivery_id IS NULL) = (through IS NULL)),
    CHECK ((old_secret IS NULL) = (old_until IS NULL)),
    CHECK (delivery_id IS NOT NULL OR attempt = 0)
) WITH (fillfactor = 70);
CREATE INDEX webhooks_user ON webhooks (user_id, created_at);

-- One line for each attempt.
CREATE TABLE webhook_deliveries (
    line        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id  uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    delivery_id uuid NOT NULL,
    first_seq   bigint,
    last_seq    bigint,
    events      integer NOT NULL,
    attempt     integer NOT NULL,
    status      integer,
    error       text,
    took_ms     integer NOT NULL,
    at          timestamptz NOT NULL
);
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, line DESC);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (at);

GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO api_rw;
GRANT SELECT, INSERT, DELETE ON webhook_deliveries TO api_rw;
