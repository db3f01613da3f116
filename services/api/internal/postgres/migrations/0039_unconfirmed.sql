-- Calls on markets that no venue has confirmed are stored in a table of their own, so that
-- no list, count, feed, export or log of published calls reads them. Confirmation moves them
-- to signals. A call that the venue denied, or that is too old, keeps its row without text:
-- denied_at. asked_at: time of the last request to the venue.
ALTER TABLE unconfirmed_signals
    ADD COLUMN user_id        uuid NOT NULL,
    ADD COLUMN yes            boolean NOT NULL,
    ADD COLUMN price_bps      integer NOT NULL CHECK (price_bps BETWEEN 0 AND 10000),
    ADD COLUMN crowd_yes_bps  integer CHECK (crowd_yes_bps BETWEEN 0 AND 10000),
    ADD COLUMN confidence     smallint CHECK (confidence BETWEEN 1 AND 100),
    ADD COLUMN ttr            integer CHECK (ttr >= 0),
    ADD COLUMN text_take      text CHECK (char_length(text_take) <= 500),
    ADD COLUMN source         text NOT NULL,
    ADD COLUMN channel_id     text,
    ADD COLUMN media_asset_id text,
    ADD COLUMN reach          integer CHECK (reach BETWEEN 0 AND 100000),
    ADD COLUMN asked_at       timestamptz,
    ADD COLUMN denied_at      timestamptz,
    ADD UNIQUE (market_id, user_id);
DROP INDEX unconfirmed_signals_market, unconfirmed_signals_age;
CREATE INDEX unconfirmed_signals_user ON unconfirmed_signals (user_id, created_at DESC);
CREATE INDEX unconfirmed_signals_waiting ON unconfirmed_signals (created_at) WHERE denied_at IS NULL;
GRANT UPDATE ON unconfirmed_signals TO api_rw;

-- Calls that became public with an answer that showed their market closed: void, late.
CREATE TABLE late_signals (signal_id uuid PRIMARY KEY);
GRANT SELECT ON late_signals TO api_rw;

-- Publishes the calls on markets that a venue has confirmed, as filing does: the call, the
-- counters, the open list and the outbox. The calls keep the time at which they were filed,
-- which the writing role must not set, so the function runs as the owner of the schema.
CREATE FUNCTION publish_signals(markets text[], at timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp AS $$
DECLARE n bigint;
BEGIN
    PERFORM set_config('signalcast.signals_inserted', 'true', true); -- no recovery: no audit entry
    WITH moved AS MATERIALIZED (
        SELECT w.*, m.title, m.status = 'open' AS open
        FROM unconfirmed_signals w JOIN api.markets m ON m.market_id = w.market_id
        WHERE w.market_id = ANY (publish_signals.markets) AND w.denied_at IS NULL AND m.fetched_at IS NOT NULL
        ORDER BY w.market_id, w.user_id
    ), filed AS (
        INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, crowd_yes_bps, confidence, ttr,
            created_at, market_title, text_take, source, channel_id, media_asset_id, reach)
        SELECT signal_id, market_id, user_id, yes, price_bps, price_bps, false, crowd_yes_bps, confidence, ttr,
            created_at, title, text_take, source, channel_id, media_asset_id, reach
        FROM moved
        ON CONFLICT DO NOTHING
        RETURNING id, market_id, user_id, yes, created_at
    ), late AS (
        INSERT INTO late_signals (signal_id) SELECT signal_id FROM moved WHERE NOT open AND signal_id IN (SELECT id FROM filed)
    ), operator_count AS (
        INSERT INTO operator_totals AS t (user_id, total)
        SELECT user_id, count(*) FROM filed GROUP BY user_id ORDER BY user_id
        ON CONFLICT (user_id) DO UPDATE SET total = t.total + excluded.total
        RETURNING user_id, crowd
    ), counted AS (
        INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no)
        SELECT market_id, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes),
            count(*) FILTER (WHERE yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
            count(*) FILTER (WHERE NOT yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd))
        FROM filed GROUP BY market_id ORDER BY market_id
        ON CONFLICT (market_id) DO UPDATE SET
            yes = t.yes + excluded.yes, no = t.no + excluded.no,
            crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no
    ), opened AS (
        INSERT INTO open_signals (signal_id, market_id, created_at) SELECT id, market_id, created_at FROM filed
    ), queued AS (
        INSERT INTO outbox (type, market_id, user_id, signal_id, at)
        SELECT 'signal.created', market_id, user_id, id, publish_signals.at FROM filed ORDER BY created_at, id
    ), gone AS (
        DELETE FROM unconfirmed_signals w USING moved WHERE w.signal_id = moved.signal_id
    )
    SELECT count(*) INTO n FROM filed;
    PERFORM set_config('signalcast.signals_inserted', '', true);
    IF n > 0 THEN
        PERFORM pg_notify('sc_outbox', '');
    END IF;
    RETURN n;
END $$;
REVOKE ALL ON FUNCTION publish_signals(text[], timestamptz) FROM public;
GRANT EXECUTE ON FUNCTION publish_signals(text[], timestamptz) TO api_rw;
