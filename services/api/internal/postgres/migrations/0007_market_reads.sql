-- When a market was last asked for at its venue by id, answered or not: the
-- order in which scans go on, and the pause after a failure.
CREATE TABLE market_checks (
    market_id text PRIMARY KEY,
    at        timestamptz NOT NULL
) WITH (fillfactor = 70);

-- Takes of a market, counted where they are written, so that no list counts.
CREATE TABLE market_takes (
    market_id text PRIMARY KEY,
    takes     bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO market_takes (market_id, takes)
SELECT s.market_id, count(*) FROM signal_events e JOIN signals s ON s.id = e.signal_id
WHERE e.type = 'take' GROUP BY s.market_id;

CREATE FUNCTION count_take() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    INSERT INTO market_takes AS t (market_id, takes)
    SELECT s.market_id, 1 FROM signals s WHERE s.id = NEW.signal_id
    ON CONFLICT (market_id) DO UPDATE SET takes = t.takes + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER count_take AFTER INSERT ON signal_events FOR EACH ROW
    WHEN (NEW.type = 'take') EXECUTE FUNCTION count_take();

-- A market as it reads: its row, its newest quote, its counters.
CREATE VIEW market_records AS
SELECT m.market_id, m.provider, m.title, m.description, m.end_date, m.status, m.provisional, m.disputed,
    m.closed_at, m.provisional_at, m.final_verdict, m.final_at, m.final_payout, m.resolution_value, r.close_price,
    m.lane, m.category, m.slug, m.event_key, m.event_title, m.condition_id, m.clob_token_id, m.yes_index,
    m.outcome_labels, m.image_url, m.url, m.volume_unit, q.yes_bps, q.at AS quoted_at,
    q.volume, q.volume_usd, q.volume24h, q.liquidity, m.fetched_at, m.created_at, m.updated_at,
    m.resolves_by, m.resolution_source, m.initial_yes_bps, m.created_by,
    coalesce(t.yes, 0) AS yes, coalesce(t.no, 0) AS no,
    coalesce(t.crowd_yes, 0) AS crowd_yes, coalesce(t.crowd_no, 0) AS crowd_no, coalesce(k.takes, 0) AS takes
FROM markets m
LEFT JOIN market_quotes q ON q.market_id = m.market_id
LEFT JOIN market_totals t ON t.market_id = m.market_id
LEFT JOIN market_takes k ON k.market_id = m.market_id
LEFT JOIN market_resolutions r ON r.market_id = m.market_id;

-- Snapshots come in the order of time; thinning reads old stretches of it.
CREATE INDEX market_prices_at ON market_prices USING brin (at);

GRANT SELECT, INSERT, UPDATE, DELETE ON market_checks TO api_rw;
GRANT SELECT, INSERT, UPDATE ON market_takes TO api_rw;
GRANT SELECT ON market_records TO api_rw;
