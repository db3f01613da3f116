-- The number of tapes (ready clips) of each market, as the hub reports it.
CREATE TABLE market_tapes (
    market_id text PRIMARY KEY,
    tapes     bigint NOT NULL CHECK (tapes >= 0),
    at        timestamptz NOT NULL -- time of the report
);
GRANT SELECT, INSERT, UPDATE ON market_tapes TO api_rw;

-- The record of a market with its tapes.
CREATE OR REPLACE VIEW market_records AS
SELECT m.market_id, m.provider, m.title, m.description, m.end_date, m.status, m.provisional, m.disputed,
    m.closed_at, m.provisional_at, m.final_verdict, m.final_at, m.final_payout, m.resolution_value, r.close_price,
    m.lane, m.category, m.slug, m.event_key, m.event_title, m.condition_id, m.clob_token_id, m.yes_index,
    m.outcome_labels, m.image_url, m.url, m.volume_unit, q.yes_bps, q.at AS quoted_at,
    q.volume, q.volume_usd, q.volume24h, q.liquidity, m.fetched_at, m.created_at, m.updated_at,
    m.resolves_by, m.resolution_source, m.initial_yes_bps, m.created_by,
    coalesce(t.yes, 0) AS yes, coalesce(t.no, 0) AS no,
    coalesce(t.crowd_yes, 0) AS crowd_yes, coalesce(t.crowd_no, 0) AS crowd_no, coalesce(k.takes, 0) AS takes,
    coalesce(l.streams, 0) AS streams, m.rated_ruling, m.creator,
    q.yes_price_bps, q.no_price_bps, q.quoted_at AS sides_quoted_at, coalesce(p.tapes, 0) AS tapes
FROM markets m
LEFT JOIN market_quotes q ON q.market_id = m.market_id
LEFT JOIN market_totals t ON t.market_id = m.market_id
LEFT JOIN market_takes k ON k.market_id = m.market_id
LEFT JOIN market_resolutions r ON r.market_id = m.market_id
LEFT JOIN market_streams l ON l.market_id = m.market_id
LEFT JOIN market_tapes p ON p.market_id = m.market_id;
