-- Functions that fill the tables of the product. Rows and counters are consistent.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;

-- Returns the id of operator i. The ids increase with time, like the ids of the product.
CREATE FUNCTION bench.operator(i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT ('0190' || lpad(to_hex(i), 8, '0') || '70008000' || left(md5(i::text), 12))::uuid
$$;

CREATE SEQUENCE bench.signal_number;

CREATE FUNCTION bench.signal(n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT ('0192' || lpad(to_hex(n), 8, '0') || '7' || left(md5(n::text), 3) || '8' || substr(md5(n::text), 4, 15))::uuid
$$;

CREATE FUNCTION bench.add_operators(n int) RETURNS void LANGUAGE sql SET synchronous_commit = off AS $$
    INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    SELECT bench.operator(i), 'bench', i::text, 'op_' || left(md5('public ' || i), 16), 'operator' || lpad(i::text, 6, '0'), 'Operator ' || i, now()
    FROM generate_series(0, n - 1) i;
    INSERT INTO api.operator_scores (user_id) SELECT bench.operator(i) FROM generate_series(0, n - 1) i;
    INSERT INTO api.operator_totals (user_id) SELECT bench.operator(i) FROM generate_series(0, n - 1) i;
$$;

-- Inserts the markets <prefix>0 to <prefix>n-1, which are open for a year and have a current price.
CREATE FUNCTION bench.add_markets(prefix text, of_provider text, n int) RETURNS void LANGUAGE sql SET synchronous_commit = off AS $$
    INSERT INTO api.markets (market_id, provider, title, status, end_date, lane, category, initial_yes_bps, fetched_at, created_at, updated_at)
    SELECT prefix || i, of_provider, 'Will the central bank cut its rate by at least 25 bps in March?', 'open', now() + interval '1 year',
        'ECONOMY', 'economy', CASE WHEN of_provider = 'manual' THEN 5000 END, CASE WHEN of_provider <> 'manual' THEN now() END, now(), now()
    FROM generate_series(0, n - 1) i;
    INSERT INTO api.market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h, liquidity, yes_price_bps, no_price_bps, quoted_at, quote_rule, open_at)
    SELECT prefix || i, 5000, now(), 0, 0, 0, 0, 5050, 5050, now(), 'bench', now() FROM generate_series(0, n - 1) i;
    INSERT INTO api.market_prices (market_id, at, yes_bps) SELECT prefix || i, now(), 5000 FROM generate_series(0, n - 1) i;
$$;

-- Sets the time of the quotes of the markets <prefix>0 to <prefix>n-1 to now, as reading them from the venue would.
CREATE FUNCTION bench.date_quotes(prefix text, n int) RETURNS void LANGUAGE sql SET synchronous_commit = off AS $$
    UPDATE api.market_quotes SET at = now(), quoted_at = now(), open_at = now()
    WHERE market_id IN (SELECT prefix || i FROM generate_series(0, n - 1) i);
$$;

-- Inserts n signals on each of the markets <prefix>first to <prefix>first+markets-1, by the operators 0 to n-1. In the order of
-- time, the signals alternate between the markets.
CREATE FUNCTION bench.add_signals(prefix text, markets int, n int, first int) RETURNS void LANGUAGE plpgsql SET synchronous_commit = off AS $$
DECLARE
    base bigint := nextval('bench.signal_number');
BEGIN
    INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, crowd_yes_bps, ttr, created_at,
        market_title, text_take, source)
    SELECT bench.signal(base + i), prefix || first + i % markets, bench.operator(i / markets), (i / markets) % 2 = 0, 5000 + i % 900, 5000 + i % 900, true, true, 5100, 86400,
        now(), 'Will the central bank cut its rate by at least 25 bps in March?', CASE WHEN i % 2 = 0 THEN 'the order book leans early' END, 'web'
    FROM generate_series(0, n::bigint * markets - 1) i;
    INSERT INTO api.open_signals (signal_id, market_id, created_at)
    SELECT bench.signal(base + i), prefix || first + i % markets, now() FROM generate_series(0, n::bigint * markets - 1) i;
    INSERT INTO api.market_totals (market_id, yes, no, crowd_yes, crowd_no)
    SELECT prefix || first + k, (n + 1) / 2, n / 2, (n + 1) / 2, n / 2 FROM generate_series(0, markets - 1) k;
    UPDATE api.operator_totals t SET total = total + markets FROM generate_series(0, n - 1) i WHERE t.user_id = bench.operator(i);
    PERFORM api.fill_boards();
    PERFORM setval('bench.signal_number', base + n::bigint * markets);
END $$;
