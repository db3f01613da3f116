-- Fills a ledger of a given size as it would be after years: calls in the order of time, resolutions, and every counter and
-- read model of the product. The command `api boards verify` checks the result.
SET client_min_messages = warning;

GRANT USAGE ON SCHEMA bench TO api_rw;

-- Statements that create the indexes and constraints again that drop_indexes has dropped.
CREATE TABLE bench.dropped (n serial, stmt text NOT NULL);

-- Drops the indexes and keys of tables. create_indexes creates them again after the insertion, which takes a tenth of the time of
-- maintaining them for each row.
CREATE FUNCTION bench.drop_indexes(tables text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    FOR r IN
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname) AS off,
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) AS on_again
        FROM pg_constraint c WHERE c.conrelid::regclass::text = ANY (tables) AND c.contype IN ('f', 'p', 'u')
        ORDER BY c.contype
    LOOP
        -- create_indexes creates foreign keys after all other constraints and indexes.
        INSERT INTO bench.dropped (stmt) VALUES (r.on_again);
        EXECUTE r.off || ' CASCADE';
    END LOOP;
    FOR r IN
        SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS off, pg_get_indexdef(i.indexrelid) AS on_again
        FROM pg_index i WHERE i.indrelid::regclass::text = ANY (tables)
    LOOP
        INSERT INTO bench.dropped (stmt) VALUES (r.on_again);
        EXECUTE r.off;
    END LOOP;
END $$;

CREATE FUNCTION bench.create_indexes() RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    FOR r IN SELECT stmt FROM bench.dropped ORDER BY stmt LIKE '%FOREIGN KEY%', n LOOP
        EXECUTE r.stmt;
    END LOOP;
    DELETE FROM bench.dropped;
END $$;

-- Adds n calls by n/50 operators on n/200 markets, over 1,000 days in five periods. The calls of a period alternate between its
-- markets, so the calls of one market are far apart in the table. Each market has 200 calls, each operator 50. Markets are resolved
-- within nine days after the period. Half of the markets of the last period are open.
CREATE FUNCTION bench.add_calls(n bigint) RETURNS void LANGUAGE plpgsql SET synchronous_commit = off SET search_path = api, bench AS $$
DECLARE
    start timestamptz := date_trunc('second', now()) - interval '1010 days';
    operators bigint := n / 50;
    markets bigint := n / 200;
    width bigint := n / 1000; -- number of markets in a period
BEGIN
    PERFORM bench.add_operators(operators::int);
    INSERT INTO markets (market_id, provider, title, status, resolution_value, end_date, closed_at, lane, category, fetched_at, created_at, updated_at)
    SELECT 'kalshi-SIZE-' || m, 'kalshi', 'Will the central bank cut its rate by at least 25 bps in March?',
        CASE WHEN open THEN 'open' ELSE 'resolved' END,
        CASE WHEN open THEN NULL WHEN m % 50 = 7 THEN 'INVALID' WHEN hashint8(m) & 1 = 0 THEN 'YES' ELSE 'NO' END,
        now() + interval '1 year', CASE WHEN NOT open THEN closed END, lane, lower(lane), now(), began, CASE WHEN open THEN began ELSE closed END
    FROM (
        SELECT m, m / width = 4 AND m % 2 = 0 AS open, (ARRAY['ECONOMY', 'POLITICS', 'TECH'])[1 + m % 3] AS lane,
            start + m / width * interval '200 days' AS began,
            start + (m / width + 1) * interval '200 days' + (m % width) * (interval '9 days' / width) AS closed
        FROM generate_series(0, markets - 1) m
    ) k;
    INSERT INTO market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h, liquidity)
    SELECT market_id, 5000, now(), 0, 0, 0, 0 FROM markets WHERE market_id LIKE 'kalshi-SIZE-%';
    INSERT INTO market_resolutions (market_id, outcome, resolver, source, close_at, close_price, lane, resolved_at)
    SELECT market_id, resolution_value, 'oracle', 'kalshi', closed_at, 100 + hashtext(market_id) & 8191, lane, closed_at
    FROM markets WHERE status = 'resolved' ORDER BY closed_at;
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, crowd_yes_bps, confidence,
        ttr, created_at, market_title, text_take, source)
    SELECT bench.signal(i), 'kalshi-SIZE-' || m, bench.operator((m * 7919 + k * (operators / 200)) % operators), h & 256 = 0, price, price, true, true,
        (h >> 3) % 10001, CASE WHEN h & 3 = 0 THEN 50 + 10 * ((h >> 5) % 5) END, 86400, start + i * (interval '1000 days' / n),
        'Will the central bank cut its rate by at least 25 bps in March?', CASE WHEN i % 2 = 0 THEN 'the order book leans early' END, 'web'
    FROM (
        SELECT i, i / (width * 200) * width + i % width AS m, i % (width * 200) / width AS k, h, 100 * (1 + (h >> 9) % 99) AS price
        FROM (SELECT i, hashint8(i) & 2147483647 AS h FROM generate_series(0, n - 1) i) a
    ) b;
    PERFORM setval('bench.signal_number', n);
END $$;

-- Inserts the rows that resolutions write, except the counters.
CREATE FUNCTION bench.add_results() RETURNS void LANGUAGE plpgsql SET synchronous_commit = off SET search_path = api, bench AS $$
BEGIN
    INSERT INTO signal_results (signal_id, event_id, user_id, status, score, clv_bps, close_price, outcome, beat_crowd,
        scoring_version, scoring_vertical, resolved_at, basis_bps, counted)
    SELECT s.id, ('0193' || right(s.id::text, 32))::uuid, s.user_id,
        CASE WHEN c.outcome = 'INVALID' THEN 'void' WHEN s.yes = (c.outcome = 'YES') THEN 'won' ELSE 'lost' END,
        CASE WHEN c.outcome = 'INVALID' THEN 0 WHEN s.yes = (c.outcome = 'YES') THEN (10000 - s.score_basis_bps) / 100 ELSE -((s.score_basis_bps + 99) / 100) END,
        CASE WHEN c.outcome <> 'INVALID' THEN CASE WHEN s.yes THEN c.close_price ELSE 10000 - c.close_price END - s.score_basis_bps END,
        c.close_price, nullif(c.outcome, 'INVALID'),
        c.outcome <> 'INVALID' AND s.yes = (c.outcome = 'YES') AND CASE WHEN s.yes THEN s.crowd_yes_bps < 5000 ELSE s.crowd_yes_bps > 5000 END,
        '1.0', c.lane, c.resolved_at, s.score_basis_bps, c.outcome <> 'INVALID'
    FROM signals s JOIN market_resolutions c ON c.market_id = s.market_id
    ORDER BY c.resolved_at, c.market_id, s.user_id;
    INSERT INTO moments (signal_id, id, user_id, market_id, tier, odds_bps, score, minted_at)
    SELECT s.id, moment_id(s.id, r.resolved_at), s.user_id, s.market_id, moment_tier(s.score_basis_bps), s.score_basis_bps, r.score, r.resolved_at
    FROM signals s JOIN signal_results r ON r.signal_id = s.id
    WHERE r.status = 'won' AND s.price_verified AND s.score_basis_bps <= 5000;
    INSERT INTO open_signals (signal_id, market_id, created_at)
    SELECT s.id, s.market_id, s.created_at FROM signals s JOIN markets m ON m.market_id = s.market_id WHERE m.status = 'open' ORDER BY s.created_at;
END $$;

-- Inserts the feed of the last 90 days. Events are numbered in the order of time.
CREATE FUNCTION bench.add_feed() RETURNS void LANGUAGE plpgsql SET synchronous_commit = off SET search_path = api, bench AS $$
BEGIN
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, data)
    SELECT row_number() OVER (ORDER BY at, place, user_id), gen_random_uuid(), type, at, f.market_id, 'kalshi', f.lane, user_id, signal_id, data
    FROM (
        SELECT 'signal.created' AS type, s.created_at AS at, 0 AS place, s.market_id, m.lane, s.user_id, s.id AS signal_id,
            jsonb_build_object('id', s.id, 'operatorPublicId', u.public_id, 'handle', u.handle, 'marketId', s.market_id, 'marketTitle', s.market_title,
                'direction', CASE WHEN s.yes THEN 'YES' ELSE 'NO' END, 'priceAtPrediction', s.price_bps, 'crowdYesAtSignal', s.crowd_yes_bps,
                'status', 'pending', 'score', NULL, 'resolvedAt', NULL, 'textTake', s.text_take, 'createdAt', s.created_at) AS data
        FROM signals s JOIN users u ON u.id = s.user_id JOIN markets m ON m.market_id = s.market_id
        WHERE s.created_at > now() - interval '90 days'
        UNION ALL
        SELECT 'market.resolved', resolved_at, 1, market_id, lane, NULL, NULL,
            jsonb_build_object('marketId', market_id, 'outcome', outcome, 'resolver', resolver, 'source', source, 'resolvedAt', resolved_at, 'disputed', false)
        FROM market_resolutions WHERE resolved_at > now() - interval '90 days'
        UNION ALL
        SELECT 'signal.resolved', r.resolved_at, 2, s.market_id, r.scoring_vertical, s.user_id, s.id,
            jsonb_build_object('signalId', s.id, 'marketId', s.market_id, 'handle', u.handle, 'status', r.status, 'score', r.score, 'clvBps', r.clv_bps)
        FROM signal_results r JOIN signals s ON s.id = r.signal_id JOIN users u ON u.id = s.user_id
        WHERE r.resolved_at > now() - interval '90 days'
    ) f;
    UPDATE feed_head SET seq = (SELECT coalesce(max(seq), 0) FROM protocol_events);
    -- The journal starts at the current end of the feed.
    INSERT INTO journal_checkpoints (size, edge, feed_seq, filling, note, at)
    SELECT 0, '{}', seq, false, '', now() FROM feed_head;
END $$;

-- Computes counters, tallies and boards from the calls and results.
CREATE FUNCTION bench.count_all() RETURNS void LANGUAGE plpgsql SET synchronous_commit = off SET search_path = api, bench AS $$
DECLARE
    window_start timestamptz := now() - interval '28 days 10 seconds';
BEGIN
    INSERT INTO market_totals (market_id, yes, no, crowd_yes, crowd_no)
    SELECT market_id, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes), count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes)
    FROM signals GROUP BY market_id;
    CREATE TEMP TABLE scored ON COMMIT DROP AS
    SELECT r.user_id, r.scoring_vertical AS lane, r.status, r.score, r.clv_bps, r.resolved_at, s.id, s.score_basis_bps AS basis, s.confidence,
        count(*) FILTER (WHERE r.status = 'lost') OVER (PARTITION BY r.user_id, r.status = 'void' ORDER BY r.resolved_at DESC, s.created_at DESC, s.id DESC) AS losses
    FROM signal_results r JOIN signals s ON s.id = r.signal_id;
    DELETE FROM operator_totals; DELETE FROM operator_scores;
    INSERT INTO operator_totals (user_id, total) SELECT u.id, coalesce(n, 0) FROM users u LEFT JOIN (SELECT user_id, count(*) AS n FROM signals GROUP BY 1) t ON t.user_id = u.id;
    INSERT INTO operator_scores (user_id, won, lost, void, score, clv_sum, clv_count, beat_line, price_sum, best_bps, best_signal,
        streak, last_at, counted, counted_lines)
    SELECT u.id, coalesce(won, 0), coalesce(lost, 0), coalesce(void, 0), coalesce(score, 0), coalesce(clv_sum, 0), coalesce(clv_count, 0), coalesce(beat, 0),
        coalesce(prices, 0), best_bps, best_signal, coalesce(streak, 0), last_at, coalesce(won + lost, 0), coalesce(won + lost, 0)
    FROM users u LEFT JOIN (
        SELECT user_id, count(*) FILTER (WHERE status = 'won') AS won, count(*) FILTER (WHERE status = 'lost') AS lost, count(*) FILTER (WHERE status = 'void') AS void,
            sum(score) AS score, sum(clv_bps) AS clv_sum, count(clv_bps) AS clv_count, count(*) FILTER (WHERE clv_bps > 0) AS beat,
            sum(within_price(basis)) FILTER (WHERE status <> 'void') AS prices,
            count(*) FILTER (WHERE status = 'won' AND losses = 0) AS streak, max(resolved_at) FILTER (WHERE status <> 'void') AS last_at,
            min(basis) FILTER (WHERE status = 'won') AS best_bps, (array_agg(id ORDER BY basis, id) FILTER (WHERE status = 'won'))[1] AS best_signal
        FROM scored GROUP BY user_id
    ) c ON c.user_id = u.id;
    INSERT INTO operator_tallies (user_id, lane, price_bps, confidence, calls, wins)
    SELECT user_id, lane, within_price(basis), coalesce(confidence, 0), count(*), count(*) FILTER (WHERE status = 'won')
    FROM scored WHERE status <> 'void' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;
    INSERT INTO operator_lane_scores (user_id, lane, won, lost, void, score, price_sum, counted, counted_lines)
    SELECT user_id, lane, count(*) FILTER (WHERE status = 'won'), count(*) FILTER (WHERE status = 'lost'), count(*) FILTER (WHERE status = 'void'), sum(score),
        coalesce(sum(within_price(basis)) FILTER (WHERE status <> 'void'), 0),
        count(*) FILTER (WHERE status <> 'void'), count(*) FILTER (WHERE status <> 'void')
    FROM scored GROUP BY user_id, lane ORDER BY user_id, lane;
    INSERT INTO operator_aged (user_id, lane, calls, takes, score, done)
    SELECT user_id, lane, sum(calls), 0, sum(score), sum(done) FROM (
        SELECT user_id, '' AS lane, count(*) AS calls, 0 AS score, 0 AS done FROM signals WHERE created_at < window_start GROUP BY user_id
        UNION ALL
        SELECT c.user_id, k.lane, 0, sum(c.score), count(*) FILTER (WHERE c.status <> 'void')
        FROM scored c CROSS JOIN LATERAL (VALUES (''), (c.lane)) k (lane) WHERE c.resolved_at < window_start GROUP BY c.user_id, k.lane
    ) a GROUP BY user_id, lane ORDER BY user_id, lane;
    UPDATE board_state SET seq = (SELECT seq FROM feed_head), since = window_start;
    PERFORM fill_boards();
END $$;

-- Inserts n operators without calls, which file calls during the measurement.
CREATE FUNCTION bench.add_writers(first int, n int) RETURNS void LANGUAGE sql SET synchronous_commit = off AS $$
    INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    SELECT bench.operator(i), 'bench', i::text, 'op_' || left(md5('public ' || i), 16), 'writer' || i, 'Writer ' || i, now()
    FROM generate_series(first, first + n - 1) i;
    INSERT INTO api.operator_scores (user_id) SELECT bench.operator(i) FROM generate_series(first, first + n - 1) i;
    INSERT INTO api.operator_totals (user_id) SELECT bench.operator(i) FROM generate_series(first, first + n - 1) i;
$$;

-- Inserts a call of one operator on each of n markets, all of them resolved: a long record.
CREATE FUNCTION bench.add_record(who uuid, n int) RETURNS void LANGUAGE plpgsql SET search_path = api, bench AS $$
DECLARE
    base bigint := nextval('bench.signal_number');
BEGIN
    PERFORM bench.add_markets('kalshi-LONG-', 'kalshi', n);
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, crowd_yes_bps, ttr, created_at,
        market_title, text_take, source)
    SELECT bench.signal(base + i), 'kalshi-LONG-' || i, who, i % 2 = 0, 5000 + i % 900, 5000 + i % 900, true, true, 5100, 86400, now() - interval '3 hours' + i * interval '1 millisecond',
        'Will the central bank cut its rate by at least 25 bps in March?', 'the order book leans early', 'web'
    FROM generate_series(0, n - 1) i;
    INSERT INTO market_resolutions (market_id, outcome, resolver, source, close_at, close_price, lane, resolved_at)
    SELECT 'kalshi-LONG-' || i, 'YES', 'oracle', 'kalshi', now(), 6400, 'ECONOMY', now() FROM generate_series(0, n - 1) i;
    INSERT INTO signal_results (signal_id, event_id, user_id, status, score, clv_bps, close_price, outcome, beat_crowd, scoring_version, scoring_vertical, resolved_at)
    SELECT bench.signal(base + i), gen_random_uuid(), who, CASE WHEN i % 2 = 0 THEN 'won' ELSE 'lost' END, CASE WHEN i % 2 = 0 THEN 40 ELSE -50 END, 100, 6400, 'YES', false, '1.0', 'ECONOMY', now()
    FROM generate_series(0, n - 1) i;
    PERFORM setval('bench.signal_number', base + n);
END $$;
