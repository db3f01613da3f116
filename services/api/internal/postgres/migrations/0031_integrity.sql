---- tern: disable-tx ----
-- Price, time and points of a call. Each table is changed by itself, so that a reader waits
-- for one change and not for all. Every column has a default: the previous release keeps
-- filing and scoring while this migration runs.

-- rated_ruling: an administrator decided whether calls on the market count; null: by rule.
-- creator: who created the market at its venue (Manifold). venue_closed_at: when the venue
-- says that trading ended, if it has ended.
ALTER TABLE markets
    ADD COLUMN IF NOT EXISTS rated_ruling    boolean,
    ADD COLUMN IF NOT EXISTS creator         text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS venue_closed_at timestamptz;

-- The newest quote of a market: the price of each side, rounded up to whole bps, at the
-- venue's time quoted_at. quote_rule names the source, quote_sha256 is the digest of the
-- answer (null for a stream frame). open_at: time of the newest answer that showed the
-- market open.
ALTER TABLE market_quotes
    ADD COLUMN IF NOT EXISTS yes_price_bps integer,
    ADD COLUMN IF NOT EXISTS no_price_bps  integer,
    ADD COLUMN IF NOT EXISTS quoted_at     timestamptz,
    ADD COLUMN IF NOT EXISTS quote_rule    text,
    ADD COLUMN IF NOT EXISTS quote_sha256  bytea,
    ADD COLUMN IF NOT EXISTS open_at       timestamptz;

-- Quotes that calls were compared with. Rows are never thinned.
CREATE TABLE IF NOT EXISTS quotes (
    market_id     text NOT NULL,
    at            timestamptz NOT NULL, -- by the venue's clock
    yes_price_bps integer NOT NULL CHECK (yes_price_bps BETWEEN 1 AND 9999),
    no_price_bps  integer NOT NULL CHECK (no_price_bps BETWEEN 1 AND 9999),
    rule          text NOT NULL,
    answer_sha256 bytea,
    PRIMARY KEY (market_id, at)
);
GRANT SELECT, INSERT ON quotes TO api_rw;

-- rated: the market was rated at the call. quote_at: time of the quote that a verified call
-- was compared with. market_yes_bps, closes_at: the ledger's own price and end date at the call.
ALTER TABLE signals
    ADD COLUMN IF NOT EXISTS rated          boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS quote_at       timestamptz,
    ADD COLUMN IF NOT EXISTS market_yes_bps integer CHECK (market_yes_bps BETWEEN 0 AND 10000),
    ADD COLUMN IF NOT EXISTS closes_at      timestamptz;

-- basis_bps: the scoring price, final. counted: the call is part of points (false for a void).
-- reason: late or unknown_market. confirmed_at: time of the second quote.
ALTER TABLE signal_results
    ADD COLUMN IF NOT EXISTS basis_bps    integer CHECK (basis_bps BETWEEN 0 AND 10000),
    ADD COLUMN IF NOT EXISTS counted      boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS reason       text CHECK (reason IN ('late', 'unknown_market')),
    ADD COLUMN IF NOT EXISTS confirmed_at timestamptz;

-- rated: the market was rated when it was resolved. decided_at: when the outcome was public,
-- as the administrator stated it.
ALTER TABLE market_resolutions
    ADD COLUMN IF NOT EXISTS rated      boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS decided_at timestamptz;

-- Calls on a market that no venue has confirmed: shown to their operator only.
CREATE TABLE IF NOT EXISTS unconfirmed_signals (
    signal_id  uuid PRIMARY KEY,
    market_id  text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS unconfirmed_signals_market ON unconfirmed_signals (market_id);
CREATE INDEX IF NOT EXISTS unconfirmed_signals_age ON unconfirmed_signals (created_at);
GRANT SELECT, INSERT, DELETE ON unconfirmed_signals TO api_rw;

-- The record of a call with its price facts. scored_bps is the scoring price: of the result
-- once there is one, else of the filing.
CREATE OR REPLACE VIEW signal_records AS
SELECT s.id, s.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier,
    s.market_id, s.market_title, coalesce(m.lane, 'OTHER') AS lane,
    s.yes, s.price_bps, s.score_basis_bps, s.crowd_yes_bps, s.confidence, s.text_take, s.source, s.ttr, s.created_at,
    coalesce(r.status, 'pending') AS status, r.score, r.resolved_at, r.outcome, r.close_price, r.clv_bps,
    coalesce(r.basis_bps, s.score_basis_bps) AS scored_bps, s.price_verified, s.rated, s.market_yes_bps, s.closes_at, s.quote_at,
    r.confirmed_at, r.reason, CASE WHEN r.status IS NOT NULL THEN r.counted AND r.status <> 'void' END AS counted
FROM signals s
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps, basis_bps, confirmed_at, reason, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id LIMIT 1) m ON true;
