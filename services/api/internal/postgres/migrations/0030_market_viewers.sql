-- How many watch the stream of an operator, on each market that it is bound to, as the
-- hub told of it last; old news counts nobody.
ALTER TABLE market_live ADD COLUMN viewers integer NOT NULL DEFAULT 0 CHECK (viewers >= 0);
ALTER TABLE market_live ADD COLUMN viewers_at timestamptz;
CREATE INDEX market_live_handle ON market_live (handle) WHERE bound;
CREATE INDEX market_live_watched ON market_live (market_id) WHERE bound AND viewers > 0;
