-- Markets that users watch.
CREATE TABLE watches (
    user_id    uuid NOT NULL,
    market_id  text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, market_id)
);
CREATE INDEX watches_of_user ON watches (user_id, created_at DESC, market_id);
CREATE INDEX watches_of_market ON watches (market_id, user_id);
GRANT SELECT, INSERT, DELETE ON watches TO hub_rw;

-- What a follower is notified of: events of a kind from this time on. Null: none of the kind. A muted operator causes no
-- notifications at all.
ALTER TABLE follows
    ADD COLUMN muted      boolean NOT NULL DEFAULT false,
    ADD COLUMN calls_from timestamptz DEFAULT now(),
    ADD COLUMN live_from  timestamptz DEFAULT now(),
    ADD COLUMN takes_from timestamptz DEFAULT now();
CREATE INDEX follows_in_order ON follows (followed, follower);
CREATE INDEX follows_of_follower ON follows (follower, created_at DESC, followed);
GRANT UPDATE (muted, calls_from, live_from, takes_from) ON follows TO hub_rw;
