-- The record: signals, their results, their events, the claims. Rows of these
-- tables are written once: the writing role has no UPDATE or DELETE, and the
-- triggers refuse the owner as well.
CREATE TABLE signals (
    id              uuid PRIMARY KEY,
    market_id       text NOT NULL,
    user_id         uuid NOT NULL,
    yes             boolean NOT NULL, -- the side called
    price_bps       integer NOT NULL CHECK (price_bps BETWEEN 0 AND 10000), -- of that side, after repair
    score_basis_bps integer NOT NULL CHECK (score_basis_bps BETWEEN 0 AND 10000),
    price_verified  boolean NOT NULL,
    crowd_yes_bps   integer CHECK (crowd_yes_bps BETWEEN 0 AND 10000),
    confidence      smallint CHECK (confidence BETWEEN 1 AND 100),
    ttr             integer CHECK (ttr >= 0), -- seconds
    created_at      timestamptz NOT NULL,
    market_title    text NOT NULL,
    text_take       text CHECK (char_length(text_take) <= 500),
    source          text NOT NULL,
    channel_id      text,
    media_asset_id  text,
    reach           integer CHECK (reach BETWEEN 0 AND 100000),
    UNIQUE (market_id, user_id)
);
CREATE INDEX signals_feed ON signals (created_at DESC, id DESC);
CREATE INDEX signals_user ON signals (user_id, created_at DESC);

-- Signals of markets without an outcome, for the feed of open calls. A row may
-- outlive the claim by a moment: readers join the market's status.
CREATE TABLE open_signals (
    signal_id  uuid NOT NULL,
    market_id  text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (created_at, signal_id)
);
CREATE INDEX open_signals_market ON open_signals (market_id);

CREATE TABLE signal_results (
    signal_id        uuid PRIMARY KEY,
    event_id         uuid NOT NULL,
    user_id          uuid NOT NULL,
    status           text NOT NULL CHECK (status IN ('won', 'lost', 'void')),
    score            integer NOT NULL,
    clv_bps          integer CHECK (clv_bps BETWEEN -10000 AND 10000),
    close_price      integer CHECK (close_price BETWEEN 0 AND 10000),
    outcome          text CHECK (outcome IN ('YES', 'NO')),
    beat_crowd       boolean NOT NULL,
    scoring_version  text NOT NULL,
    scoring_vertical text NOT NULL,
    resolved_at      timestamptz NOT NULL,
    CHECK (CASE status WHEN 'won' THEN score BETWEEN 0 AND 99
                       WHEN 'lost' THEN score BETWEEN -100 AND -1
                       ELSE score = 0 AND clv_bps IS NULL AND outcome IS NULL END)
);
CREATE INDEX signal_results_beat ON signal_results (resolved_at DESC, signal_id DESC) WHERE beat_crowd;

CREATE TABLE signal_events (
    id         uuid PRIMARY KEY,
    signal_id  uuid NOT NULL REFERENCES signals (id),
    type       text NOT NULL CHECK (type IN ('take', 'reaffirm', 'confidence', 'note', 'share')),
    payload    jsonb NOT NULL,
    actor      text,
    created_at timestamptz NOT NULL
);
CREATE INDEX signal_events_signal ON signal_events (signal_id, created_at, id);

CREATE TABLE market_resolutions (
    market_id    text PRIMARY KEY,
    outcome      text NOT NULL CHECK (outcome IN ('YES', 'NO', 'INVALID')),
    resolver     text NOT NULL CHECK (resolver IN ('admin', 'oracle', 'manual')),
    source       text NOT NULL,
    proof_url    text,
    reason       text,
    finalized_by text,
    payout       text,
    close_at     timestamptz NOT NULL,
    close_price  integer CHECK (close_price BETWEEN 0 AND 10000),
    lane         text NOT NULL,
    resolved_at  timestamptz NOT NULL
);

CREATE TABLE market_disputes (
    market_id   text PRIMARY KEY,
    disputed    boolean NOT NULL,
    reason      text CHECK (char_length(reason) <= 500),
    disputed_at timestamptz
);

CREATE TABLE resolution_proposals (
    market_id   text PRIMARY KEY,
    verdict     text NOT NULL CHECK (verdict IN ('YES', 'NO', 'INVALID')),
    proof_url   text,
    reason      text,
    proposed_by uuid NOT NULL,
    proposed_at timestamptz NOT NULL
);

CREATE TABLE idempotency_keys (
    user_id    uuid NOT NULL,
    key        text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 128),
    body_hash  bytea NOT NULL,
    result_id  uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['signals', 'signal_results', 'signal_events', 'market_resolutions', 'audit_log'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', t);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', t);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_change', t);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_truncate', t);
    END LOOP;
END $$;

GRANT SELECT, INSERT ON signals, signal_results, signal_events, market_resolutions TO api_rw;
GRANT SELECT, INSERT, DELETE ON open_signals TO api_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO api_rw;
GRANT SELECT, INSERT, UPDATE ON market_disputes TO api_rw;
GRANT SELECT, INSERT, DELETE ON resolution_proposals TO api_rw;
