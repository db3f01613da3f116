-- What stands in front of the heatmap. Only admins write it, and every act of
-- theirs is in audit_log.
CREATE TABLE pins (
    market_id  text PRIMARY KEY CHECK (market_id ~ '^[1-9][0-9]{0,19}$'), -- of the primary venue
    label      text CHECK (char_length(label) BETWEEN 1 AND 80),
    tagline    text CHECK (char_length(tagline) BETWEEN 1 AND 80),
    position   integer NOT NULL CHECK (position BETWEEN 1 AND 100), -- the lowest first
    created_at timestamptz NOT NULL
);

-- Playback addresses that operators bound to markets: one for each of both.
CREATE TABLE streams (
    market_id  text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    handle     text NOT NULL CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    url        text NOT NULL CHECK (url ~ '^https://' AND char_length(url) <= 500),
    label      text NOT NULL CHECK (char_length(label) <= 80), -- may be empty
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (market_id, handle)
);
CREATE INDEX streams_of_market ON streams (market_id, updated_at DESC, handle);

-- Clips cut from streams. Nobody writes them yet: the writing role may read.
CREATE TABLE clips (
    id            uuid PRIMARY KEY, -- v7
    handle        text NOT NULL CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    market_id     text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    url           text CHECK (url ~ '^https://'),
    thumbnail_url text CHECK (thumbnail_url ~ '^https://'),
    duration_s    integer CHECK (duration_s >= 0),
    status        text NOT NULL CHECK (status IN ('processing', 'ready', 'failed')),
    stance        text CHECK (stance IN ('YES', 'NO')),
    views         bigint NOT NULL DEFAULT 0 CHECK (views >= 0),
    boosted       boolean NOT NULL DEFAULT false,
    created_by    text NOT NULL CHECK (created_by ~ '^[a-z0-9_]{2,32}$'),
    created_at    timestamptz NOT NULL,
    ready_at      timestamptz,
    CHECK (status <> 'ready' OR url IS NOT NULL AND ready_at IS NOT NULL)
);
CREATE INDEX clips_of_market ON clips (market_id, created_at DESC, id DESC) WHERE status = 'ready';

GRANT SELECT, INSERT, UPDATE, DELETE ON pins, streams TO hub_rw;
GRANT SELECT ON clips TO hub_rw;
