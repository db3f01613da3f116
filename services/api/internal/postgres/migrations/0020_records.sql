-- The records of operators: moments, and beside the counters what a record shows of
-- the best call, of the run of wins, and of skill. All of it follows from signals and
-- their results alone, and `api boards verify` works it out again. What it needs of tables
-- that are read and written all the time is in migrations 0025 and 0026.

-- A call at 0 or 10000 counts as one at 1 or 9999.
CREATE FUNCTION within_price(bps integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT least(greatest(bps, 1), 9999)
$$;

-- The streak of an operator with one result more, which was resolved no later than
-- others that are scored: claims are made at one time and scored at another.
CREATE FUNCTION streak_with(who uuid, one_status text, one_at timestamptz, one_filed timestamptz, one uuid) RETURNS bigint
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT count(*) FROM (
        SELECT count(*) FILTER (WHERE status = 'lost') OVER (ORDER BY at DESC, filed DESC, id DESC) AS losses
        FROM (
            SELECT s.id, s.created_at AS filed, r.status, r.resolved_at AS at
            FROM signals s
            CROSS JOIN LATERAL (SELECT status, resolved_at FROM signal_results WHERE signal_id = s.id LIMIT 1) r
            WHERE s.user_id = who AND r.status <> 'void'
            UNION ALL SELECT one, one_filed, one_status, one_at
        ) k
    ) v WHERE losses = 0
$$;

CREATE FUNCTION moment_tier(odds integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN odds <= 500 THEN 'LEGENDARY' WHEN odds <= 1000 THEN 'EPIC' WHEN odds <= 2000 THEN 'RARE'
        WHEN odds <= 3500 THEN 'UNCOMMON' WHEN odds <= 5000 THEN 'COMMON' END
$$;

-- A uuid v7 that follows from the call and the time of its result.
CREATE FUNCTION moment_id(signal uuid, at timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT (left(ms, 8) || '-' || right(ms, 4) || '-7' || left(h, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7, 12))::uuid
    FROM (SELECT lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') AS ms, md5('moment ' || signal::text) AS h) v
$$;

-- Calls that were won at long odds (contract 4.8.2), minted with the result.
CREATE TABLE moments (
    signal_id uuid PRIMARY KEY,
    id        uuid NOT NULL,
    user_id   uuid NOT NULL,
    market_id text NOT NULL,
    tier      text NOT NULL,
    odds_bps  integer NOT NULL CHECK (odds_bps BETWEEN 0 AND 5000),
    score     integer NOT NULL,
    minted_at timestamptz NOT NULL,
    CHECK (tier = moment_tier(odds_bps))
);
CREATE INDEX moments_user ON moments (user_id, minted_at DESC, signal_id DESC);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON moments FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON moments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE moments ENABLE ALWAYS TRIGGER no_change;
ALTER TABLE moments ENABLE ALWAYS TRIGGER no_truncate;

-- The calls of an operator in a lane by price and stated confidence (0: none), won and
-- lost: the sample of the statistics. Moved with operator_lane_scores.
CREATE TABLE operator_tallies (
    user_id    uuid NOT NULL,
    lane       text NOT NULL,
    price_bps  integer NOT NULL CHECK (price_bps BETWEEN 1 AND 9999),
    confidence integer NOT NULL CHECK (confidence BETWEEN 0 AND 100),
    calls      bigint NOT NULL,
    wins       bigint NOT NULL,
    PRIMARY KEY (user_id, lane, price_bps, confidence)
) WITH (fillfactor = 70);

-- Rows of board_rows whose edge is to be worked out again.
CREATE TABLE board_due (
    user_id uuid NOT NULL,
    lane    text NOT NULL,
    PRIMARY KEY (user_id, lane)
);

-- How many rows of whole records with a decided call have a score, by tier: a rank is
-- read from it without counting everybody.
CREATE TABLE board_field (
    tier      text NOT NULL,
    score     bigint NOT NULL,
    operators bigint NOT NULL,
    PRIMARY KEY (tier, score)
) WITH (fillfactor = 50);

CREATE FUNCTION count_field() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO board_field AS f (tier, score, operators)
        SELECT tier, score, count(*) FROM after_rows WHERE lane = '' AND won + lost > 0 GROUP BY tier, score
        ON CONFLICT (tier, score) DO UPDATE SET operators = f.operators + excluded.operators;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO board_field AS f (tier, score, operators)
        SELECT tier, score, -count(*) FROM before_rows WHERE lane = '' AND won + lost > 0 GROUP BY tier, score
        ON CONFLICT (tier, score) DO UPDATE SET operators = f.operators + excluded.operators;
    ELSE
        INSERT INTO board_field AS f (tier, score, operators)
        SELECT tier, score, sum(n) FROM (
            SELECT tier, score, -1 AS n FROM before_rows WHERE lane = '' AND won + lost > 0
            UNION ALL SELECT tier, score, 1 FROM after_rows WHERE lane = '' AND won + lost > 0
        ) d GROUP BY tier, score HAVING sum(n) <> 0
        ON CONFLICT (tier, score) DO UPDATE SET operators = f.operators + excluded.operators;
    END IF;
    RETURN NULL;
END $$;
-- As before, with the prices.
DROP FUNCTION board_pending();
CREATE FUNCTION board_pending()
RETURNS TABLE (user_id uuid, lane text, score bigint, won bigint, lost bigint, void bigint, price_sum bigint)
LANGUAGE sql STABLE ROWS 500 SET enable_seqscan = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
    SELECT r.user_id, r.scoring_vertical, sum(r.score)::bigint, count(*) FILTER (WHERE r.status = 'won'),
        count(*) FILTER (WHERE r.status = 'lost'), count(*) FILTER (WHERE r.status = 'void'),
        coalesce(sum(within_price(s.score_basis_bps)) FILTER (WHERE r.status <> 'void'), 0)::bigint
    FROM (
        SELECT market_id, NULL::uuid AS after_user FROM outbox WHERE type = 'market.resolved'
        UNION ALL
        SELECT market_id, after_user FROM feed_drains
    ) d
    CROSS JOIN LATERAL (
        SELECT id, score_basis_bps FROM signals
        WHERE market_id = d.market_id AND user_id > coalesce(d.after_user, '00000000-0000-0000-0000-000000000000') OFFSET 0) s
    CROSS JOIN LATERAL (SELECT user_id, status, score, scoring_vertical FROM signal_results WHERE signal_id = s.id LIMIT 1) r
    GROUP BY r.user_id, r.scoring_vertical
$$;

CREATE OR REPLACE FUNCTION fill_boards() RETURNS void LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7201002);
    DELETE FROM board_rows;
    INSERT INTO board_rows (user_id, lane, tier, handle, score, won, lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month)
    SELECT user_id, lane, tier, handle, score, won, lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month
    FROM board_fresh(NULL, (SELECT since FROM board_state), NULL, true);
    INSERT INTO board_due (user_id, lane) SELECT user_id, lane FROM board_rows WHERE won + lost > 0
    ON CONFLICT DO NOTHING;
END $$;

-- What one operator or many have got from the results so far, worked out anew: those
-- behind the given one, by id, at most so many; gives the last of them, or null. Migration
-- 0027 has it for all, and `api boards fill` again when the programs of before, which know
-- nothing of it, have scored their last. While it works on them nobody scores them, and no
-- feed rows are numbered, with which tallies move.
CREATE FUNCTION fill_records(after uuid, most integer) RETURNS uuid
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

    -- No events are told of moments that are minted now: the feed is of what happens.
    INSERT INTO moments (signal_id, id, user_id, market_id, tier, odds_bps, score, minted_at)
    SELECT s.id, moment_id(s.id, r.resolved_at), s.user_id, s.market_id, moment_tier(s.score_basis_bps), s.score_basis_bps, r.score, r.resolved_at
    FROM signals s
    CROSS JOIN LATERAL (SELECT status, score, scoring_vertical, resolved_at FROM signal_results WHERE signal_id = s.id LIMIT 1) r
    WHERE s.user_id = ANY (who) AND r.status = 'won' AND s.price_verified AND s.score_basis_bps <= 5000
    ON CONFLICT (signal_id) DO NOTHING;

    WITH result AS (
        SELECT s.user_id, r.status, r.resolved_at, s.id, s.score_basis_bps AS basis,
            count(*) FILTER (WHERE r.status = 'lost') OVER (PARTITION BY s.user_id ORDER BY r.resolved_at DESC, s.created_at DESC, s.id DESC) AS losses
        FROM signals s
        CROSS JOIN LATERAL (SELECT status, score, scoring_vertical, resolved_at FROM signal_results WHERE signal_id = s.id LIMIT 1) r
        WHERE s.user_id = ANY (who) AND r.status <> 'void'
    ), sums AS (
        SELECT user_id, sum(within_price(basis)) AS price_sum, count(*) FILTER (WHERE losses = 0) AS streak, max(resolved_at) AS last_at,
            (array_agg(basis ORDER BY basis, id) FILTER (WHERE status = 'won'))[1] AS best_bps,
            (array_agg(id ORDER BY basis, id) FILTER (WHERE status = 'won'))[1] AS best_signal
        FROM result GROUP BY user_id
    )
    UPDATE operator_scores o SET price_sum = coalesce(e.price_sum, 0), streak = coalesce(e.streak, 0), last_at = e.last_at,
        best_bps = e.best_bps, best_signal = e.best_signal
    FROM unnest(who) w (user_id) LEFT JOIN sums e ON e.user_id = w.user_id
    WHERE o.user_id = w.user_id;

    PERFORM seq FROM feed_head FOR UPDATE;
    DELETE FROM operator_tallies WHERE user_id = ANY (who);
    WITH waiting AS (
        SELECT market_id, NULL::uuid AS after_user FROM outbox WHERE type = 'market.resolved'
        UNION ALL SELECT market_id, after_user FROM feed_drains
    ), tally AS (
        INSERT INTO operator_tallies (user_id, lane, price_bps, confidence, calls, wins)
        SELECT s.user_id, r.scoring_vertical, within_price(s.score_basis_bps), coalesce(s.confidence, 0), count(*), count(*) FILTER (WHERE r.status = 'won')
        FROM signals s
        CROSS JOIN LATERAL (SELECT status, score, scoring_vertical, resolved_at FROM signal_results WHERE signal_id = s.id LIMIT 1) r
        WHERE s.user_id = ANY (who) AND r.status <> 'void' AND NOT EXISTS (
            SELECT FROM waiting w WHERE w.market_id = s.market_id AND (w.after_user IS NULL OR s.user_id > w.after_user))
        GROUP BY 1, 2, 3, 4
        RETURNING user_id, lane, price_bps, calls
    )
    UPDATE operator_lane_scores o SET price_sum = coalesce(t.price_sum, 0)
    FROM operator_lane_scores k
    LEFT JOIN (SELECT user_id, lane, sum(price_bps * calls) AS price_sum FROM tally GROUP BY user_id, lane) t ON t.user_id = k.user_id AND t.lane = k.lane
    WHERE k.user_id = ANY (who) AND o.user_id = k.user_id AND o.lane = k.lane;

    INSERT INTO board_due (user_id, lane) SELECT user_id, lane FROM board_rows WHERE user_id = ANY (who) AND won + lost > 0
    ON CONFLICT DO NOTHING;
    RETURN who[cardinality(who)];
END $$;
REVOKE ALL ON FUNCTION fill_records(uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fill_records(uuid, integer) TO api_rw;

GRANT SELECT, INSERT ON moments TO api_rw;
GRANT SELECT, INSERT, UPDATE ON operator_tallies, board_field TO api_rw;
GRANT SELECT, INSERT, DELETE ON board_due TO api_rw;
