-- A market's identity and state. Filing a call locks this row FOR SHARE, a
-- claim locks it FOR UPDATE, so prices that change often live beside it.
CREATE TABLE markets (
    market_id         text PRIMARY KEY CHECK (market_id ~ '^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$'),
    provider          text NOT NULL CHECK (provider IN ('polymarket', 'kalshi', 'limitless', 'manifold', 'manual')),
    title             text NOT NULL,
    description       text NOT NULL DEFAULT '',
    status            text NOT NULL CHECK (status IN ('open', 'closed', 'resolved', 'unknown')),
    provisional       boolean NOT NULL DEFAULT false, -- the venue's word, or a pending proposal
    disputed          boolean NOT NULL DEFAULT false, -- our flag; venue challenges are provisional
    end_date          timestamptz,
    closed_at         timestamptz, -- first seen closed
    provisional_at    timestamptz, -- first seen provisional
    final_verdict     text CHECK (final_verdict IN ('YES', 'NO', 'INVALID')), -- the venue's final word, before the claim
    final_at          timestamptz, -- first seen final
    final_payout      text,
    resolution_value  text CHECK (resolution_value IN ('YES', 'NO', 'INVALID')),
    lane              text NOT NULL DEFAULT 'OTHER',
    category          text NOT NULL DEFAULT '',
    slug              text NOT NULL DEFAULT '',
    event_key         text NOT NULL DEFAULT '',
    event_title       text NOT NULL DEFAULT '',
    condition_id      text NOT NULL DEFAULT '',
    clob_token_id     text NOT NULL DEFAULT '',
    yes_index         smallint NOT NULL DEFAULT 0,
    outcome_labels    text[] NOT NULL DEFAULT '{}',
    image_url         text NOT NULL DEFAULT '',
    url               text NOT NULL DEFAULT '',
    volume_unit       text NOT NULL DEFAULT 'usd' CHECK (volume_unit IN ('usd', 'contracts', 'mana')),
    resolves_by       timestamptz,
    resolution_source text,
    initial_yes_bps   integer CHECK (initial_yes_bps BETWEEN 100 AND 9900),
    created_by        text,
    fetched_at        timestamptz, -- newest venue answer; null: no venue ever answered
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    CHECK ((provider = 'manual') = (initial_yes_bps IS NOT NULL)),
    CHECK ((status = 'resolved') = (resolution_value IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX markets_open_end ON markets (end_date, market_id) WHERE status = 'open';
CREATE INDEX markets_native ON markets (created_at DESC, market_id) WHERE provider = 'manual';
CREATE INDEX markets_event ON markets (event_key) WHERE event_key <> '';

-- The newest snapshot of a market.
CREATE TABLE market_quotes (
    market_id  text PRIMARY KEY,
    yes_bps    integer CHECK (yes_bps BETWEEN 0 AND 10000),
    at         timestamptz NOT NULL,
    volume     double precision,
    volume_usd double precision,
    volume24h  double precision,
    liquidity  double precision
) WITH (fillfactor = 70);

-- Every snapshot: the history and the closing line.
CREATE TABLE market_prices (
    market_id text NOT NULL,
    at        timestamptz NOT NULL,
    yes_bps   integer NOT NULL CHECK (yes_bps BETWEEN 0 AND 10000),
    PRIMARY KEY (market_id, at)
);

GRANT SELECT, INSERT, UPDATE ON markets, market_quotes TO api_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON market_prices TO api_rw;
