-- What partner stations showed last. A copy is written anew at each read and shown
-- while it is young.
CREATE TABLE partner_copies (
    origin text NOT NULL CHECK (origin ~ '^[a-z0-9-]{3,32}$'),
    kind   text NOT NULL CHECK (kind IN ('tapes', 'operators')),
    rows   jsonb NOT NULL CHECK (jsonb_typeof(rows) = 'array'),
    at     timestamptz NOT NULL,
    PRIMARY KEY (origin, kind)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);

-- Player starts that were counted here, of our own tapes and of partners'.
CREATE TABLE tape_views (
    origin  text NOT NULL,
    tape_id text NOT NULL CHECK (char_length(tape_id) BETWEEN 1 AND 128),
    views   bigint NOT NULL CHECK (views > 0),
    PRIMARY KEY (origin, tape_id)
);

CREATE INDEX clips_ready ON clips (boosted DESC, created_at DESC, id DESC) WHERE status = 'ready';

GRANT SELECT, INSERT, UPDATE, DELETE ON partner_copies TO hub_rw;
GRANT SELECT, INSERT, UPDATE ON tape_views TO hub_rw;
