-- What is shown first, one row for all hubs: whoever finds its time over puts another
-- choice in its place.
CREATE TABLE spotlight (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version    bigint NOT NULL CHECK (version > 0),
    reason     text NOT NULL CHECK (reason IN ('live_operator', 'takes', 'wire_move', 'final_stretch', 'clock')),
    show_id    text,
    market_id  text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    title      text NOT NULL,
    yes_bps    integer CHECK (yes_bps BETWEEN 0 AND 10000),
    lane       text NOT NULL,
    handle     text,
    hls_url    text,
    viewers    bigint NOT NULL CHECK (viewers >= 0),
    segment_id text,
    started_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    chosen_at  timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Clips that can be watched are counted by market.
CREATE INDEX clips_market_ready ON clips (market_id) WHERE status = 'ready';

GRANT SELECT, INSERT, UPDATE ON spotlight TO hub_rw;
