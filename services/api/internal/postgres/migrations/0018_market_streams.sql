-- Streams of a market, counted where market_live is written, so that no list counts.
CREATE TABLE market_streams (
    market_id text PRIMARY KEY,
    streams   integer NOT NULL CHECK (streams >= 0)
) WITH (fillfactor = 50);

INSERT INTO market_streams (market_id, streams)
SELECT market_id, count(*) FROM market_live WHERE bound GROUP BY market_id;

CREATE FUNCTION count_stream() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    INSERT INTO market_streams AS s (market_id, streams) VALUES (NEW.market_id, CASE WHEN NEW.bound THEN 1 ELSE 0 END)
    ON CONFLICT (market_id) DO UPDATE SET streams = s.streams + CASE WHEN NEW.bound THEN 1 ELSE -1 END;
    RETURN NULL;
END $$;
CREATE TRIGGER count_stream_new AFTER INSERT ON market_live FOR EACH ROW
    WHEN (NEW.bound) EXECUTE FUNCTION count_stream();
CREATE TRIGGER count_stream AFTER UPDATE ON market_live FOR EACH ROW
    WHEN (OLD.bound <> NEW.bound) EXECUTE FUNCTION count_stream();

-- The same record, with the streams behind what it had.
CREATE OR REPLACE VIEW market_records AS
SELECT m.market_id, m.provider, m.title, m.description, m.end_date, m.status, m.provisional, m.disputed,
    m.closed_at, m.provisional_at, m.final_verdict, m.final_at, m.final_payout, m.resolution_value, r.close_price,
    m.lane, m.category, m.slug, m.event_key, m.event_title, m.condition_id, m.clob_token_id, m.yes_index,
    m.outcome_labels, m.image_url, m.url, m.volume_unit, q.yes_bps, q.at AS quoted_at,
    q.volume, q.volume_usd, q.volume24h, q.liquidity, m.fetched_at, m.created_at, m.updated_at,
    m.resolves_by, m.resolution_source, m.initial_yes_bps, m.created_by,
    coalesce(t.yes, 0) AS yes, coalesce(t.no, 0) AS no,
    coalesce(t.crowd_yes, 0) AS crowd_yes, coalesce(t.crowd_no, 0) AS crowd_no, coalesce(k.takes, 0) AS takes,
    coalesce(l.streams, 0) AS streams
FROM markets m
LEFT JOIN market_quotes q ON q.market_id = m.market_id
LEFT JOIN market_totals t ON t.market_id = m.market_id
LEFT JOIN market_takes k ON k.market_id = m.market_id
LEFT JOIN market_resolutions r ON r.market_id = m.market_id
LEFT JOIN market_streams l ON l.market_id = m.market_id;

GRANT SELECT, INSERT, UPDATE ON market_streams TO api_rw;
