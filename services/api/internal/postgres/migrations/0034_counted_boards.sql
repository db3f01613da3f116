-- Boards and records count as docs/scores.md says: points, the skill component, ranks and
-- edges are made of counted results, totals and accuracy of all published calls. Every
-- function keeps the name and the arguments that the previous release uses.

-- Counted results with what the aggregates need. basis: the final scoring price.
-- venue_market: false for native markets, which have no closing line.
CREATE VIEW counted_results AS
SELECT s.id, s.user_id, s.market_id, s.confidence, s.created_at, r.status, r.score, r.clv_bps, r.lane, r.resolved_at,
    coalesce(r.basis_bps, s.score_basis_bps) AS basis, s.market_id NOT LIKE 'native-%' AS venue_market
FROM signals s
CROSS JOIN LATERAL (
    SELECT status, score, clv_bps, scoring_vertical AS lane, resolved_at, basis_bps, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r
WHERE r.counted;
GRANT SELECT ON counted_results TO api_rw;

-- counted: counted results of the row. operator_aged.done and board_rows.month_done are
-- counted results, too.
ALTER TABLE board_rows ADD COLUMN IF NOT EXISTS counted bigint NOT NULL DEFAULT 0;

-- Operators with a counted result, by tier and points.
CREATE OR REPLACE FUNCTION count_field() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO board_field AS f (tier, score, operators)
        SELECT tier, score, count(*) FROM after_rows WHERE lane = '' AND counted > 0 GROUP BY tier, score
        ON CONFLICT (tier, score) DO UPDATE SET operators = f.operators + excluded.operators;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO board_field AS f (tier, score, operators)
        SELECT tier, score, -count(*) FROM before_rows WHERE lane = '' AND counted > 0 GROUP BY tier, score
        ON CONFLICT (tier, score) DO UPDATE SET operators = f.operators + excluded.operators;
    ELSE
        INSERT INTO board_field AS f (tier, score, operators)
        SELECT tier, score, sum(n) FROM (
            SELECT tier, score, -1 AS n FROM before_rows WHERE lane = '' AND counted > 0
            UNION ALL SELECT tier, score, 1 FROM after_rows WHERE lane = '' AND counted > 0
        ) d GROUP BY tier, score HAVING sum(n) <> 0
        ON CONFLICT (tier, score) DO UPDATE SET operators = f.operators + excluded.operators;
    END IF;
    RETURN NULL;
END $$;
-- No row of board_rows has a counted result yet: column counted is new.
UPDATE board_field SET operators = 0 WHERE operators <> 0;

-- The facts between since and the given time, which leave the window: published calls,
-- takes, points and counted results. An unfinished claim keeps since back.
CREATE OR REPLACE FUNCTION board_edge(upto timestamptz)
RETURNS TABLE (user_id uuid, lane text, calls bigint, takes bigint, score bigint, done bigint)
LANGUAGE plpgsql STABLE ROWS 500 SET enable_seqscan = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE since timestamptz := (SELECT b.since FROM board_state b);
BEGIN
    RETURN QUERY
    SELECT f.user_id, f.lane, sum(f.calls)::bigint, sum(f.takes)::bigint, sum(f.score)::bigint, sum(f.done)::bigint
    FROM (
        SELECT s.user_id, '' AS lane, 1 AS calls, 0 AS takes, 0 AS score, 0 AS done
        FROM signals s
        WHERE s.created_at >= since AND s.created_at < upto
        UNION ALL
        SELECT s.user_id, '', 0, 1, 0, 0
        FROM signal_events e
        CROSS JOIN LATERAL (SELECT user_id FROM signals WHERE id = e.signal_id LIMIT 1) s
        WHERE e.type = 'take' AND e.created_at >= since AND e.created_at < upto
        UNION ALL
        SELECT r.user_id, k.lane, 0, 0, r.score, 1
        FROM market_resolutions m
        -- OFFSET 0: start from the markets, whatever the size of the tables at planning time.
        CROSS JOIN LATERAL (SELECT id FROM signals WHERE market_id = m.market_id OFFSET 0) s
        CROSS JOIN LATERAL (SELECT user_id, score, counted, scoring_vertical FROM signal_results WHERE signal_id = s.id LIMIT 1) r
        CROSS JOIN LATERAL (VALUES (''), (r.scoring_vertical)) k (lane)
        WHERE m.resolved_at >= since AND m.resolved_at < upto AND r.counted
    ) f
    GROUP BY f.user_id, f.lane;
END $$;

-- The results that operator_lane_scores will include when their feed rows are numbered.
DROP FUNCTION board_pending();
CREATE FUNCTION board_pending()
RETURNS TABLE (user_id uuid, lane text, score bigint, won bigint, lost bigint, void bigint, price_sum bigint, counted bigint, counted_lines bigint)
LANGUAGE plpgsql STABLE ROWS 500 SET enable_seqscan = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.user_id, r.scoring_vertical, coalesce(sum(r.score) FILTER (WHERE r.counted), 0)::bigint, count(*) FILTER (WHERE r.status = 'won'),
        count(*) FILTER (WHERE r.status = 'lost'), count(*) FILTER (WHERE r.status = 'void'),
        coalesce(sum(within_price(coalesce(r.basis_bps, s.score_basis_bps))) FILTER (WHERE r.counted AND d.venue_market), 0)::bigint,
        count(*) FILTER (WHERE r.counted), count(*) FILTER (WHERE r.counted AND d.venue_market)
    FROM (
        SELECT o.market_id, NULL::uuid AS after_user, o.market_id NOT LIKE 'native-%' AS venue_market
        FROM outbox o WHERE o.type = 'market.resolved'
        UNION ALL
        SELECT f.market_id, f.after_user, f.market_id NOT LIKE 'native-%' FROM feed_drains f
    ) d
    CROSS JOIN LATERAL (
        SELECT id, score_basis_bps FROM signals
        WHERE market_id = d.market_id AND user_id > coalesce(d.after_user, '00000000-0000-0000-0000-000000000000') OFFSET 0) s
    CROSS JOIN LATERAL (
        SELECT user_id, status, score, scoring_vertical, basis_bps, counted FROM signal_results WHERE signal_id = s.id LIMIT 1) r
    GROUP BY r.user_id, r.scoring_vertical;
END $$;

-- The current rows of board_rows, with windows from month on, of one lane or of each (null):
-- of the operators that something changed since the rows were stored, with upto only of those
-- that the feed rows up to it and the edge of the window name; or of the given operators.
-- Nested loops are left to the LATERAL look-ups: the number of operators is unknown when the
-- function is planned.
DROP FUNCTION board_fresh(text, timestamptz, bigint, boolean);
CREATE FUNCTION board_fresh(one_lane text, month timestamptz, upto bigint, operators uuid[] DEFAULT NULL)
RETURNS TABLE (user_id uuid, lane text, tier text, handle text, score bigint, won bigint, lost bigint, void bigint, total bigint,
    calls bigint, takes bigint, month_score bigint, month_done bigint, cast_all integer, cast_month integer, counted bigint)
LANGUAGE plpgsql STABLE ROWS 500 SET enable_seqscan = off SET enable_nestloop = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE from_seq bigint := (SELECT seq FROM board_state);
BEGIN
    RETURN QUERY
    WITH edge AS MATERIALIZED (
        SELECT e.user_id, e.lane, e.calls, e.takes, e.score, e.done FROM board_edge(month) e
    ), pending AS MATERIALIZED (
        SELECT p.user_id, p.lane, p.score, p.won, p.lost, p.void, p.counted FROM board_pending() p
    ), moved AS MATERIALIZED (
        SELECT user_id FROM protocol_events
        WHERE operators IS NULL AND seq > from_seq AND seq <= coalesce(upto, 9223372036854775807) AND user_id IS NOT NULL
        UNION SELECT user_id FROM edge WHERE operators IS NULL
        UNION SELECT user_id FROM outbox WHERE operators IS NULL AND upto IS NULL AND user_id IS NOT NULL
        UNION SELECT user_id FROM pending WHERE operators IS NULL AND upto IS NULL
        UNION SELECT unnest(operators)
    ), act AS MATERIALIZED (
        SELECT m.user_id, u.tier, u.handle, t.total,
            t.total - coalesce(a.calls, 0) - coalesce(e.calls, 0) AS calls,
            coalesce(k.takes, 0) - coalesce(a.takes, 0) - coalesce(e.takes, 0) AS takes
        FROM moved m
        -- By key, one by one: the number of operators is known only here.
        CROSS JOIN LATERAL (SELECT tier, handle FROM users WHERE id = m.user_id LIMIT 1) u
        CROSS JOIN LATERAL (SELECT total FROM operator_totals WHERE user_id = m.user_id AND total > 0 LIMIT 1) t
        LEFT JOIN LATERAL (SELECT takes FROM operator_takes WHERE user_id = m.user_id LIMIT 1) k ON true
        LEFT JOIN LATERAL (SELECT calls, takes FROM operator_aged WHERE user_id = m.user_id AND lane = '' LIMIT 1) a ON true
        LEFT JOIN edge e ON e.user_id = m.user_id AND e.lane = ''
    ), record AS (
        SELECT o.user_id, '' AS lane, c.score, c.won, c.lost, c.void, c.counted
        FROM act o
        CROSS JOIN LATERAL (SELECT score, won, lost, void, counted FROM operator_scores WHERE user_id = o.user_id LIMIT 1) c
        WHERE one_lane IS NULL OR one_lane = ''
        UNION ALL
        SELECT l.user_id, l.lane, sum(l.score)::bigint, sum(l.won)::bigint, sum(l.lost)::bigint, sum(l.void)::bigint, sum(l.counted)::bigint
        FROM (
            SELECT c.user_id, c.lane, c.score, c.won, c.lost, c.void, c.counted
            FROM act o
            CROSS JOIN LATERAL (
                SELECT user_id, lane, score, won, lost, void, counted FROM operator_lane_scores
                WHERE user_id = o.user_id AND (one_lane IS NULL OR lane = one_lane) LIMIT 100) c
            UNION ALL
            SELECT p.user_id, p.lane, p.score, p.won, p.lost, p.void, p.counted FROM pending p WHERE one_lane IS NULL OR p.lane = one_lane
        ) l
        GROUP BY l.user_id, l.lane
    )
    SELECT r.user_id, r.lane, o.tier, o.handle, r.score, r.won, r.lost, r.void, o.total, o.calls, o.takes,
        w.score, w.done, board_cast(r.score, r.counted, o.calls, o.takes), board_cast(w.score, w.done, o.calls, o.takes), r.counted
    FROM record r
    JOIN act o ON o.user_id = r.user_id
    LEFT JOIN LATERAL (SELECT score, done FROM operator_aged WHERE user_id = r.user_id AND lane = r.lane LIMIT 1) a ON true
    LEFT JOIN edge e ON e.user_id = r.user_id AND e.lane = r.lane
    CROSS JOIN LATERAL (SELECT
        r.score - coalesce(a.score, 0) - coalesce(e.score, 0) AS score,
        r.counted - coalesce(a.done, 0) - coalesce(e.done, 0) AS done) w;
END $$;

-- Recomputes the counters of counted results, best call, streak, moments and tallies of the
-- next operators after the given one, by id, at most the given number. Returns the last, or
-- null after the last operator. Migration 0036 calls it for all operators, and `api boards fill`
-- calls it when no process of the previous release is left. While it runs, the results of these
-- operators cannot be scored and no feed rows can be numbered.
CREATE OR REPLACE FUNCTION fill_records(after uuid, most integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp SET lock_timeout = '5s' SET jit = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE who uuid[];
BEGIN
    SELECT array_agg(user_id ORDER BY user_id) INTO who FROM (
        SELECT user_id FROM operator_scores WHERE fill_records.after IS NULL OR user_id > fill_records.after ORDER BY user_id LIMIT most FOR UPDATE
    ) k;
    IF who IS NULL THEN
        RETURN NULL;
    END IF;

    -- These moments have no feed rows: the feed lists what happens.
    INSERT INTO moments (signal_id, id, user_id, market_id, tier, odds_bps, score, minted_at)
    SELECT id, moment_id(id, resolved_at), user_id, market_id, moment_tier(basis), basis, score, resolved_at
    FROM counted_results WHERE user_id = ANY (who) AND status = 'won' AND basis <= 5000
    ON CONFLICT (signal_id) DO NOTHING;

    WITH result AS (
        SELECT user_id, id, status, score, clv_bps, resolved_at, basis, venue_market,
            count(*) FILTER (WHERE status = 'lost') OVER (PARTITION BY user_id ORDER BY resolved_at DESC, created_at DESC, id DESC) AS losses
        FROM counted_results WHERE user_id = ANY (who)
    ), sums AS (
        SELECT user_id, count(*) AS counted, count(*) FILTER (WHERE venue_market) AS lines, sum(score) AS score,
            coalesce(sum(clv_bps) FILTER (WHERE venue_market), 0) AS clv_sum, count(clv_bps) FILTER (WHERE venue_market) AS clv_count,
            count(*) FILTER (WHERE venue_market AND clv_bps > 0) AS beat_line,
            coalesce(sum(within_price(basis)) FILTER (WHERE venue_market), 0) AS price_sum,
            count(*) FILTER (WHERE losses = 0) AS streak, max(resolved_at) AS last_at,
            (array_agg(basis ORDER BY basis, id) FILTER (WHERE status = 'won'))[1] AS best_bps,
            (array_agg(id ORDER BY basis, id) FILTER (WHERE status = 'won'))[1] AS best_signal
        FROM result GROUP BY user_id
    )
    UPDATE operator_scores o SET counted = coalesce(e.counted, 0), counted_lines = coalesce(e.lines, 0), score = coalesce(e.score, 0),
        clv_sum = coalesce(e.clv_sum, 0), clv_count = coalesce(e.clv_count, 0), beat_line = coalesce(e.beat_line, 0),
        price_sum = coalesce(e.price_sum, 0), streak = coalesce(e.streak, 0), last_at = e.last_at,
        best_bps = e.best_bps, best_signal = e.best_signal
    FROM unnest(who) w (user_id) LEFT JOIN sums e ON e.user_id = w.user_id
    WHERE o.user_id = w.user_id;

    PERFORM seq FROM feed_head FOR UPDATE;
    DELETE FROM operator_tallies WHERE user_id = ANY (who);
    WITH waiting AS (
        SELECT market_id, NULL::uuid AS after_user FROM outbox WHERE type = 'market.resolved'
        UNION ALL SELECT market_id, after_user FROM feed_drains
    ), result AS MATERIALIZED (
        SELECT user_id, lane, status, score, basis, confidence, venue_market FROM counted_results c
        WHERE user_id = ANY (who) AND NOT EXISTS (
            SELECT FROM waiting w WHERE w.market_id = c.market_id AND (w.after_user IS NULL OR c.user_id > w.after_user))
    ), tally AS (
        INSERT INTO operator_tallies (user_id, lane, price_bps, confidence, calls, wins)
        SELECT user_id, lane, within_price(basis), coalesce(confidence, 0), count(*), count(*) FILTER (WHERE status = 'won')
        FROM result WHERE venue_market GROUP BY 1, 2, 3, 4
    ), sums AS (
        SELECT user_id, lane, count(*) AS counted, count(*) FILTER (WHERE venue_market) AS lines, sum(score) AS score,
            coalesce(sum(within_price(basis)) FILTER (WHERE venue_market), 0) AS price_sum
        FROM result GROUP BY user_id, lane
    )
    UPDATE operator_lane_scores o SET counted = coalesce(t.counted, 0), counted_lines = coalesce(t.lines, 0), score = coalesce(t.score, 0),
        price_sum = coalesce(t.price_sum, 0)
    FROM operator_lane_scores k LEFT JOIN sums t ON t.user_id = k.user_id AND t.lane = k.lane
    WHERE k.user_id = ANY (who) AND o.user_id = k.user_id AND o.lane = k.lane;
    RETURN who[cardinality(who)];
END $$;

-- Recomputes the rows of the boards of the next operators after the given one, by id, at most
-- the given number, with the counted results that are older than the window. Returns the last,
-- or null after the last operator. It follows fill_records.
CREATE FUNCTION fill_boards(after uuid, most integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp SET lock_timeout = '5s' SET jit = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    who    uuid[];
    window_start timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(7201002); -- as every writer of these tables
    SELECT since INTO window_start FROM board_state;
    SELECT array_agg(user_id ORDER BY user_id) INTO who FROM (
        SELECT user_id FROM operator_totals WHERE total > 0 AND (fill_boards.after IS NULL OR user_id > fill_boards.after) ORDER BY user_id LIMIT most
    ) k;
    IF who IS NULL THEN
        RETURN NULL;
    END IF;

    UPDATE operator_aged SET score = 0, done = 0 WHERE user_id = ANY (who) AND (score <> 0 OR done <> 0);
    INSERT INTO operator_aged AS a (user_id, lane, score, done)
    SELECT c.user_id, k.lane, sum(c.score), count(*)
    FROM counted_results c CROSS JOIN LATERAL (VALUES (''), (c.lane)) k (lane)
    WHERE c.user_id = ANY (who) AND c.resolved_at < window_start
    GROUP BY c.user_id, k.lane
    ON CONFLICT (user_id, lane) DO UPDATE SET score = excluded.score, done = excluded.done;

    INSERT INTO board_rows AS b (user_id, lane, tier, handle, score, won, lost, void, total,
        calls, takes, month_score, month_done, cast_all, cast_month, counted)
    SELECT user_id, lane, tier, handle, score, won, lost, void, total,
        calls, takes, month_score, month_done, cast_all, cast_month, counted
    FROM board_fresh(NULL, window_start, NULL, who)
    WHERE user_id = ANY (who)
    ON CONFLICT (user_id, lane) DO UPDATE SET
        tier = excluded.tier, handle = excluded.handle, score = excluded.score, won = excluded.won, lost = excluded.lost,
        void = excluded.void, total = excluded.total, calls = excluded.calls, takes = excluded.takes,
        month_score = excluded.month_score, month_done = excluded.month_done,
        cast_all = excluded.cast_all, cast_month = excluded.cast_month, counted = excluded.counted;
    INSERT INTO board_due (user_id, lane) SELECT user_id, lane FROM board_rows WHERE user_id = ANY (who) AND won + lost > 0
    ON CONFLICT DO NOTHING;
    RETURN who[cardinality(who)];
END $$;
REVOKE ALL ON FUNCTION fill_boards(uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fill_boards(uuid, integer) TO api_rw;

-- Recomputes all rows of the boards, for a ledger that was not filled by calls and claims.
-- operator_scores, operator_lane_scores and the calls and takes of operator_aged must be right.
CREATE OR REPLACE FUNCTION fill_boards() RETURNS void LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7201002);
    DELETE FROM board_rows;
    PERFORM fill_boards(NULL, 2147483647);
END $$;
