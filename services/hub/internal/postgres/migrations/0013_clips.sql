-- Clips are cut now: the writing role makes and finishes them.
ALTER TABLE clips
    ADD COLUMN title       text CHECK (char_length(title) BETWEEN 1 AND 120),
    ADD COLUMN show_id     text CHECK (char_length(show_id) <= 64), -- the session that it was cut from
    ADD COLUMN lease_until timestamptz, -- while somebody works on it
    ADD COLUMN tries       integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
    ADD COLUMN reason      text CHECK (char_length(reason) <= 200), -- why it failed, for operators
    -- 'dropped' had been ready and gave its room to newer ones. A station on one machine has no https.
    DROP CONSTRAINT clips_status_check,
    DROP CONSTRAINT clips_url_check,
    DROP CONSTRAINT clips_thumbnail_url_check,
    ADD CONSTRAINT clips_status_check CHECK (status IN ('processing', 'ready', 'failed', 'dropped')),
    ADD CONSTRAINT clips_url_check CHECK (url ~ '^https?://'),
    ADD CONSTRAINT clips_thumbnail_url_check CHECK (thumbnail_url ~ '^https?://');

-- What cooldown and day are counted by, and what waits.
CREATE INDEX clips_by_maker ON clips (created_by, created_at DESC);
CREATE INDEX clips_of_stream ON clips (handle, created_at DESC);
CREATE INDEX clips_waiting ON clips (created_at) WHERE status = 'processing';

GRANT INSERT, UPDATE ON clips TO hub_rw;
