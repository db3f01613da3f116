-- What each channel of the feed was told to have begun in a slot: one for each, so
-- that it is told once. Old rows are deleted.
CREATE TABLE program_starts (
    channel   text NOT NULL CHECK (channel ~ '^program:[a-z]+(:[A-Z]+)?$'),
    slot      bigint NOT NULL CHECK (slot > 0),
    lane      text NOT NULL CHECK (lane ~ '^[a-z]{1,32}$'),
    market_id text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    data      text NOT NULL,
    PRIMARY KEY (slot, channel)
);

-- What a director put into the stored rundown.
CREATE TABLE preempts (
    id           uuid PRIMARY KEY,
    channel      text NOT NULL CHECK (channel ~ '^[a-z0-9][a-z0-9_.-]{0,63}$'),
    lane         text NOT NULL CHECK (lane ~ '^[a-z]{1,32}$'),
    slot         bigint NOT NULL CHECK (slot > 0), -- the first one
    slots        integer NOT NULL CHECK (slots BETWEEN 1 AND 6),
    market_id    text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    reason       text CHECK (char_length(reason) BETWEEN 1 AND 180),
    created_at   timestamptz NOT NULL,
    cancelled_at timestamptz
);
CREATE INDEX preempts_slot ON preempts (slot DESC);

-- A slot that a director filled belongs to that entry until it is filled otherwise.
ALTER TABLE program_slots ADD COLUMN preempt_id uuid REFERENCES preempts (id);
CREATE INDEX program_slots_preempt ON program_slots (preempt_id) WHERE preempt_id IS NOT NULL;

GRANT SELECT, INSERT, DELETE ON program_starts TO clock_rw;
GRANT SELECT, INSERT, UPDATE ON preempts TO clock_rw;
