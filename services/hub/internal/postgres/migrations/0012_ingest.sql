-- Where operators send their video to: one stream for each, with one key at a time. Of
-- the key only its hash is kept.
CREATE TABLE ingest_streams (
    handle     text PRIMARY KEY CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    id         uuid NOT NULL UNIQUE, -- v7
    provider   text NOT NULL CHECK (provider IN ('origin', 'rtmp', 'livepeer', 'mux')),
    remote_id  text NOT NULL CHECK (char_length(remote_id) <= 200), -- at a host of others, else empty
    key_hash   bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
    hls_url    text NOT NULL CHECK (char_length(hls_url) <= 500), -- at a host of others, else empty
    label      text NOT NULL CHECK (char_length(label) <= 80), -- may be empty
    latency    text NOT NULL CHECK (latency IN ('standard', 'low')),
    created_at timestamptz NOT NULL,
    rotated_at timestamptz NOT NULL,
    version    bigint NOT NULL CHECK (version > 0)
);
GRANT SELECT, INSERT, UPDATE ON ingest_streams TO hub_rw;
