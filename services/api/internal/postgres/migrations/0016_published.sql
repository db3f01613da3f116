-- What hub and clock commit and the ledger puts into the feed: each fact once, by
-- the id that its sender gave it.
CREATE TABLE published (
    event_id uuid PRIMARY KEY,
    taken_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX published_age ON published (taken_at);

-- Events of a programme belong to its channel.
ALTER TABLE outbox ADD COLUMN topic text;
ALTER TABLE protocol_events ADD COLUMN topic text;
CREATE INDEX protocol_events_topic ON protocol_events (topic, seq DESC) WHERE topic IS NOT NULL;

-- What the channels of others begin with: the newest copy that they sent.
CREATE TABLE channel_copies (
    channel text PRIMARY KEY CHECK (char_length(channel) BETWEEN 1 AND 160),
    data    jsonb NOT NULL,
    at      timestamptz NOT NULL
);

-- Streams that stand on a market, as the hub told of them.
CREATE TABLE market_live (
    market_id text NOT NULL,
    handle    text NOT NULL,
    bound     boolean NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (market_id, handle)
);

GRANT SELECT, INSERT, DELETE ON published TO api_rw;
GRANT SELECT, INSERT, UPDATE ON channel_copies, market_live TO api_rw;
