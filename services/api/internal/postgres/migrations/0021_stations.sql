-- Partner stations. An address of the network belongs to one active station at most:
-- nobody can speak as another one.
CREATE TABLE stations (
    station_id    text PRIMARY KEY CHECK (station_id ~ '^[a-z0-9-]{3,32}$'),
    user_id       uuid NOT NULL REFERENCES users (id),
    name          text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
    url           text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 500),
    origin_url    text NOT NULL CHECK (origin_url ~ '^https?://[^/]+$'), -- scheme, host and port of url
    description   text CHECK (char_length(description) <= 280),
    lanes         text[] NOT NULL DEFAULT '{}' CHECK (cardinality(lanes) <= 11),
    providers     text[] NOT NULL DEFAULT '{}' CHECK (cardinality(providers) <= 5),
    tapes_url     text CHECK (char_length(tapes_url) <= 500),
    operators_url text CHECK (char_length(operators_url) <= 500),
    status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'active', 'paused', 'suspended')),
    last_seen_at  timestamptz,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    deleted_at    timestamptz -- its id stays taken
);
CREATE INDEX stations_of_user ON stations (user_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX stations_origin ON stations (origin_url) WHERE status = 'active' AND deleted_at IS NULL;

GRANT SELECT, INSERT, UPDATE ON stations TO api_rw;

ALTER TABLE message_effects DROP CONSTRAINT message_effects_type_check;
ALTER TABLE message_effects ADD CONSTRAINT message_effects_type_check
    CHECK (type IN ('profile.update', 'market.create', 'resolution.create', 'station.create', 'station.update'));
