-- What outlives the memory in which movement and attention are worked out. One
-- replica writes it, all read it.

-- The attention of a market, one row whenever it changed.
CREATE TABLE attention_scores (
    market_id text NOT NULL,
    at        timestamptz NOT NULL,
    score     smallint NOT NULL CHECK (score BETWEEN 0 AND 100),
    PRIMARY KEY (market_id, at)
);
-- Rows come in the order of time; thinning reads old stretches of it.
CREATE INDEX attention_scores_at ON attention_scores USING brin (at);

-- Since when something moves within a window: a market by its id, a situation by
-- its provider and event. The row goes when it moves no longer.
CREATE TABLE movement_sightings (
    kind    text NOT NULL CHECK (kind IN ('move', 'situation')),
    span    text NOT NULL CHECK (span IN ('15m', '1h', '6h', '24h')),
    key     text NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (kind, span, key)
);

GRANT SELECT, INSERT, DELETE ON attention_scores, movement_sightings TO api_rw;

-- The markets of a programme category, for its feed of calls.
CREATE INDEX markets_category ON markets (category, market_id) WHERE category <> '';
