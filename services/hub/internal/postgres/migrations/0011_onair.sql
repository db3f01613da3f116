-- What the hub knows of operators as streamers. A row without a registration only
-- holds what was chosen; nobody is live by it.
CREATE TABLE streamer_profiles (
    handle        text PRIMARY KEY CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    status        text NOT NULL DEFAULT 'none' CHECK (status IN ('none', 'pending', 'approved', 'suspended')),
    lanes         text[] NOT NULL DEFAULT '{}' CHECK (cardinality(lanes) <= 5),
    registered_at timestamptz,
    decided_at    timestamptz,
    updated_at    timestamptz NOT NULL
);

-- The signal over somebody's picture. One that was cleared keeps its row: the time in
-- it only grows, so that the newest copy of it is the right one.
CREATE TABLE overlay_signals (
    handle     text PRIMARY KEY CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    market_id  text CHECK (char_length(market_id) BETWEEN 1 AND 128), -- null: cleared
    name       text CHECK (char_length(name) BETWEEN 1 AND 200),
    yes_pct    double precision CHECK (yes_pct BETWEEN 0 AND 100),
    slug       text CHECK (slug ~ '^[a-z0-9-]{1,120}$'),
    annotation text CHECK (char_length(annotation) <= 180),
    closes_at  timestamptz,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CHECK (market_id IS NULL OR name IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX overlay_signals_due ON overlay_signals (expires_at) WHERE market_id IS NOT NULL;

-- How often a signal was set, for the analytics of its operator.
CREATE TABLE overlay_sets (
    handle text NOT NULL,
    at     timestamptz NOT NULL
);
CREATE INDEX overlay_sets_of_handle ON overlay_sets (handle, at);
CREATE INDEX overlay_sets_age ON overlay_sets (at);

-- Sessions: from a first heartbeat to the end. One is open for each operator.
CREATE TABLE live_sessions (
    id               uuid PRIMARY KEY, -- v7, the showId
    handle           text NOT NULL CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    started_at       timestamptz NOT NULL,
    last_beat        timestamptz NOT NULL,
    ended_at         timestamptz,
    market_id        text CHECK (char_length(market_id) BETWEEN 1 AND 128), -- as the heartbeats say; null: none said
    own_url          text CHECK (own_url ~ '^https://' AND char_length(own_url) <= 500), -- of a go-live that bound to no market
    hls_url          text CHECK (char_length(hls_url) <= 500), -- what viewers are sent to; null: nothing, so not live
    aired            boolean NOT NULL DEFAULT false, -- it was live at some time
    broadcast_id     uuid,
    bitrate_kbps     integer CHECK (bitrate_kbps >= 0),     -- as the client says
    reported_viewers integer CHECK (reported_viewers >= 0), -- as the client says: for comparison alone
    viewers          integer NOT NULL DEFAULT 0 CHECK (viewers >= 0), -- at the newest sample
    viewers_peak     integer NOT NULL DEFAULT 0 CHECK (viewers_peak >= 0),
    signal_market    text, -- the overlay signal when it ended
    signal_name      text,
    CHECK (ended_at IS NULL OR ended_at >= started_at),
    CHECK (last_beat >= started_at)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX live_sessions_open ON live_sessions (handle) WHERE ended_at IS NULL;
CREATE INDEX live_sessions_of_handle ON live_sessions (handle, started_at DESC);
CREATE INDEX live_sessions_ended ON live_sessions (ended_at DESC) WHERE aired;

-- Viewers minute by minute: sums of samples.
CREATE TABLE live_samples (
    session_id uuid NOT NULL REFERENCES live_sessions (id) ON DELETE CASCADE,
    minute     timestamptz NOT NULL,
    viewers    bigint NOT NULL CHECK (viewers >= 0), -- added up
    samples    integer NOT NULL CHECK (samples > 0),
    peak       integer NOT NULL CHECK (peak >= 0),
    PRIMARY KEY (session_id, minute)
) WITH (fillfactor = 70);
CREATE INDEX live_samples_age ON live_samples (minute);

-- Broadcasts that signed messages announced, and the messages that went live.
CREATE TABLE broadcasts (
    id            uuid PRIMARY KEY, -- follows from its message
    owner         uuid NOT NULL,
    title         text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 120),
    market_id     text,
    station_id    text,
    lane          text,
    scheduled_for timestamptz,
    state         text NOT NULL CHECK (state IN ('scheduled', 'live', 'ended')),
    created_at    timestamptz NOT NULL
);
CREATE INDEX broadcasts_of_owner ON broadcasts (owner, created_at DESC);
CREATE TABLE go_lives (
    message_id text PRIMARY KEY,
    session_id uuid NOT NULL,
    at         timestamptz NOT NULL
);

-- When a channel was told last how it stands. Its row is taken before its state is
-- read, so copies of it leave in the order of their times.
CREATE TABLE live_heads (
    channel text PRIMARY KEY,
    at      timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX streams_of_handle ON streams (handle, updated_at DESC);

-- Times as answers write them.
CREATE FUNCTION stamp(timestamptz) RETURNS text LANGUAGE sql STABLE
    RETURN to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

GRANT SELECT, INSERT, UPDATE, DELETE ON streamer_profiles, overlay_signals, overlay_sets, live_samples, live_heads TO hub_rw;
GRANT SELECT, INSERT, UPDATE ON live_sessions, broadcasts TO hub_rw;
GRANT SELECT, INSERT ON go_lives TO hub_rw;
