-- Boards are read from rows in the order in which they rank. The counters of
-- filings and claims stay as they are: nothing that files or claims writes here.
-- A row is right until something of its operator moves, and every such move is
-- found without its help: in the outbox, in the feed behind board_state.seq, among
-- the claims whose feed rows are still to be numbered, or at the edge of the window.
-- A read takes the rows that nothing moved and works out the few others.

-- seq: feed rows up to it are worked in. since: the facts before it are in
-- operator_aged, and the windows of board_rows begin at it.
CREATE TABLE board_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    seq      bigint NOT NULL,
    since    timestamptz NOT NULL
);
INSERT INTO board_state (seq, since) SELECT seq, '-infinity' FROM feed_head;

-- What has left the window, by lane ('': the whole record). A window is the whole
-- record without it, so no count of a window is ever moved by a filing or a claim.
CREATE TABLE operator_aged (
    user_id uuid NOT NULL,
    lane    text NOT NULL,
    calls   bigint NOT NULL DEFAULT 0, -- with takes only where lane is ''
    takes   bigint NOT NULL DEFAULT 0,
    score   bigint NOT NULL DEFAULT 0,
    done    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, lane)
) WITH (fillfactor = 70);

CREATE TABLE operator_takes (
    user_id uuid PRIMARY KEY,
    takes   bigint NOT NULL
) WITH (fillfactor = 70);

INSERT INTO operator_takes (user_id, takes)
SELECT s.user_id, count(*) FROM signal_events e JOIN signals s ON s.id = e.signal_id
WHERE e.type = 'take' GROUP BY s.user_id;

CREATE FUNCTION count_take_operator() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    INSERT INTO operator_takes AS t (user_id, takes)
    SELECT s.user_id, 1 FROM signals s WHERE s.id = NEW.signal_id
    ON CONFLICT (user_id) DO UPDATE SET takes = t.takes + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER count_take_operator AFTER INSERT ON signal_events FOR EACH ROW
    WHEN (NEW.type = 'take') EXECUTE FUNCTION count_take_operator();

-- The edge of the window is found by time.
CREATE INDEX signal_events_takes ON signal_events (created_at) WHERE type = 'take';
CREATE INDEX market_resolutions_at ON market_resolutions (resolved_at);

CREATE TABLE board_rows (
    user_id     uuid NOT NULL,
    lane        text NOT NULL,
    tier        text NOT NULL,
    handle      text COLLATE "C" NOT NULL,
    score       bigint NOT NULL,
    won         bigint NOT NULL,
    lost        bigint NOT NULL,
    void        bigint NOT NULL,
    total       bigint NOT NULL, -- of the whole record
    resolved    bigint NOT NULL GENERATED ALWAYS AS (won + lost) STORED,
    accuracy    integer NOT NULL GENERATED ALWAYS AS (
        CASE WHEN won + lost = 0 THEN 0 ELSE (200 * won + won + lost) / (2 * (won + lost)) END) STORED,
    calls       bigint NOT NULL, -- since board_state.since, as the three below
    takes       bigint NOT NULL,
    month_score bigint NOT NULL,
    month_done  bigint NOT NULL,
    cast_all    integer NOT NULL, -- the broadcast scores
    cast_month  integer NOT NULL,
    PRIMARY KEY (user_id, lane)
) WITH (fillfactor = 80);
CREATE INDEX board_rows_scores ON board_rows (lane, tier, score DESC, resolved DESC, accuracy DESC, handle);
CREATE INDEX board_rows_all ON board_rows (lane, tier, cast_all DESC, score DESC, resolved DESC, handle);
CREATE INDEX board_rows_month ON board_rows (lane, tier, cast_month DESC, score DESC, resolved DESC, handle);

-- Contract 4.8.3, as board.Broadcast measures it; round half up.
CREATE FUNCTION board_cast(score bigint, done bigint, calls bigint, takes bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT (floor(x) + CASE WHEN x - floor(x) >= 0.5 THEN 1 ELSE 0 END)::integer
    FROM (SELECT 500 * least(1, greatest(0, 0.5::float8 + score::float8 / (50 * (done + 10)::float8)))
        + 300 * least(1, (calls::float8 + takes::float8 / 2) / 28) AS x) v
$$;

-- The facts between since and the given time, which are leaving the window. Facts of
-- that age are all committed; a claim that is not scored to its end holds since back.
CREATE FUNCTION board_edge(upto timestamptz)
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
        FROM signals s WHERE s.created_at >= since AND s.created_at < upto
        UNION ALL
        SELECT s.user_id, '', 0, 1, 0, 0
        FROM signal_events e
        CROSS JOIN LATERAL (SELECT user_id FROM signals WHERE id = e.signal_id LIMIT 1) s
        WHERE e.type = 'take' AND e.created_at >= since AND e.created_at < upto
        UNION ALL
        SELECT r.user_id, k.lane, 0, 0, r.score, (r.status <> 'void')::integer
        FROM market_resolutions m
        -- OFFSET 0: from the markets on, whatever the tables looked like when this was planned.
        CROSS JOIN LATERAL (SELECT id FROM signals WHERE market_id = m.market_id OFFSET 0) s
        CROSS JOIN LATERAL (SELECT user_id, status, score, scoring_vertical FROM signal_results WHERE signal_id = s.id LIMIT 1) r
        CROSS JOIN LATERAL (VALUES (''), (r.scoring_vertical)) k (lane)
        WHERE m.resolved_at >= since AND m.resolved_at < upto
    ) f
    GROUP BY f.user_id, f.lane;
END $$;

-- The results that operator_lane_scores will take up when their feed rows are numbered.
CREATE FUNCTION board_pending()
RETURNS TABLE (user_id uuid, lane text, score bigint, won bigint, lost bigint, void bigint)
LANGUAGE sql STABLE ROWS 500 SET enable_seqscan = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
    SELECT r.user_id, r.scoring_vertical, sum(r.score)::bigint, count(*) FILTER (WHERE r.status = 'won'),
        count(*) FILTER (WHERE r.status = 'lost'), count(*) FILTER (WHERE r.status = 'void')
    FROM (
        SELECT market_id, NULL::uuid AS after_user FROM outbox WHERE type = 'market.resolved'
        UNION ALL
        SELECT market_id, after_user FROM feed_drains
    ) d
    CROSS JOIN LATERAL (
        SELECT id FROM signals
        WHERE market_id = d.market_id AND user_id > coalesce(d.after_user, '00000000-0000-0000-0000-000000000000') OFFSET 0) s
    CROSS JOIN LATERAL (SELECT user_id, status, score, scoring_vertical FROM signal_results WHERE signal_id = s.id LIMIT 1) r
    GROUP BY r.user_id, r.scoring_vertical
$$;

-- The rows of board_rows as they are at this moment, windows from month on, of the
-- operators that something moved; of one lane, or of each (null). With upto only of
-- those that the feed rows up to it and the edge of the window name; with everyone
-- of each that has a call. Nested loops are left to the LATERAL look-ups, which have
-- no other way: nobody knows before how many moved, and a loop over both of two long
-- lists never ends.
CREATE FUNCTION board_fresh(one_lane text, month timestamptz, upto bigint, everyone boolean DEFAULT false)
RETURNS TABLE (user_id uuid, lane text, tier text, handle text, score bigint, won bigint, lost bigint, void bigint, total bigint,
    calls bigint, takes bigint, month_score bigint, month_done bigint, cast_all integer, cast_month integer)
LANGUAGE plpgsql STABLE ROWS 500 SET enable_seqscan = off SET enable_nestloop = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE from_seq bigint := (SELECT seq FROM board_state);
BEGIN
    RETURN QUERY
    WITH edge AS MATERIALIZED (
        SELECT e.user_id, e.lane, e.calls, e.takes, e.score, e.done FROM board_edge(month) e
    ), pending AS MATERIALIZED (
        SELECT p.user_id, p.lane, p.score, p.won, p.lost, p.void FROM board_pending() p
    ), moved AS MATERIALIZED (
        SELECT user_id FROM protocol_events
        WHERE seq > from_seq AND seq <= coalesce(upto, 9223372036854775807) AND user_id IS NOT NULL
        UNION SELECT user_id FROM edge
        UNION SELECT user_id FROM outbox WHERE upto IS NULL AND user_id IS NOT NULL
        UNION SELECT user_id FROM pending WHERE upto IS NULL
        UNION SELECT user_id FROM operator_totals WHERE everyone AND total > 0
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
        SELECT o.user_id, '' AS lane, c.score, c.won, c.lost, c.void
        FROM act o
        CROSS JOIN LATERAL (SELECT score, won, lost, void FROM operator_scores WHERE user_id = o.user_id LIMIT 1) c
        WHERE one_lane IS NULL OR one_lane = ''
        UNION ALL
        SELECT l.user_id, l.lane, sum(l.score)::bigint, sum(l.won)::bigint, sum(l.lost)::bigint, sum(l.void)::bigint
        FROM (
            SELECT c.user_id, c.lane, c.score, c.won, c.lost, c.void
            FROM act o
            CROSS JOIN LATERAL (
                SELECT user_id, lane, score, won, lost, void FROM operator_lane_scores
                WHERE user_id = o.user_id AND (one_lane IS NULL OR lane = one_lane) LIMIT 100) c
            UNION ALL
            SELECT p.user_id, p.lane, p.score, p.won, p.lost, p.void FROM pending p WHERE one_lane IS NULL OR p.lane = one_lane
        ) l
        GROUP BY l.user_id, l.lane
    )
    SELECT r.user_id, r.lane, o.tier, o.handle, r.score, r.won, r.lost, r.void, o.total, o.calls, o.takes,
        w.score, w.done, board_cast(r.score, r.won + r.lost, o.calls, o.takes), board_cast(w.score, w.done, o.calls, o.takes)
    FROM record r
    JOIN act o ON o.user_id = r.user_id
    LEFT JOIN LATERAL (SELECT score, done FROM operator_aged WHERE user_id = r.user_id AND lane = r.lane LIMIT 1) a ON true
    LEFT JOIN edge e ON e.user_id = r.user_id AND e.lane = r.lane
    CROSS JOIN LATERAL (SELECT
        r.score - coalesce(a.score, 0) - coalesce(e.score, 0) AS score,
        r.won + r.lost - coalesce(a.done, 0) - coalesce(e.done, 0) AS done) w;
END $$;

-- Who classifies an operator waits for the fold that runs, which may have read the
-- operator as it was; the fold never waits for anybody.
CREATE FUNCTION board_follow() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7201002);
    UPDATE board_rows SET tier = NEW.tier, handle = NEW.handle WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER board_follow AFTER UPDATE ON users FOR EACH ROW
    WHEN (OLD.tier <> NEW.tier OR OLD.handle <> NEW.handle) EXECUTE FUNCTION board_follow();

-- Makes the rows of everybody anew, for a ledger that was filled by other means than
-- filings and claims. operator_aged must be right.
CREATE FUNCTION fill_boards() RETURNS void LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7201002);
    DELETE FROM board_rows;
    INSERT INTO board_rows (user_id, lane, tier, handle, score, won, lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month)
    SELECT user_id, lane, tier, handle, score, won, lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month
    FROM board_fresh(NULL, (SELECT since FROM board_state), NULL, true);
END $$;
SELECT fill_boards();

GRANT SELECT, INSERT, UPDATE ON board_state, operator_aged, operator_takes TO api_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON board_rows TO api_rw;
