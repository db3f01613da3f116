-- The time for which people watched the streams of operators, as the hub reports it: one row for each report. A report
-- is stored once, by the id that the hub assigned. The boards count the reports of the last 28 days.
CREATE TABLE viewer_reports (
    event_id       uuid PRIMARY KEY,
    user_id        uuid NOT NULL,
    at             timestamptz NOT NULL, -- end of the reported time
    viewer_seconds bigint NOT NULL CHECK (viewer_seconds > 0)
);
CREATE INDEX viewer_reports_user ON viewer_reports (user_id, at) INCLUDE (viewer_seconds);
CREATE INDEX viewer_reports_at ON viewer_reports (at) INCLUDE (user_id);

-- Operators with reports since their board rows were stored, one row for each report. Without a unique key, a report does
-- not wait for the fold that deletes the rows.
CREATE TABLE board_viewers_due (
    user_id uuid NOT NULL
);

ALTER TABLE board_rows ADD COLUMN viewer_minutes bigint NOT NULL DEFAULT 0; -- since board_state.since

GRANT SELECT, INSERT, DELETE ON viewer_reports, board_viewers_due TO api_rw;

-- The broadcast score as board.Broadcast computes it, rounded half up. The logarithm is rounded to nine decimals, so
-- that every implementation of it gives the same score.
CREATE FUNCTION board_cast(score bigint, done bigint, calls bigint, takes bigint, viewers bigint) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    x float8 := 500 * least(1, greatest(0, 0.5::float8 + score::float8 / (50 * (done + 10)::float8)))
        + 300 * least(1, (calls::float8 + takes::float8 / 2) / 28)
        + 200 * least(1, round(log10(1 + viewers::float8)::numeric, 9)::float8 / 5);
BEGIN
    RETURN floor(x)::integer + (x - floor(x) >= 0.5)::integer;
END $$;

-- The functions below are those of 0034_counted_boards.sql with viewer minutes.

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
        UNION ALL
        -- Only names the operator: viewer minutes of the window are a sum of viewer_reports.
        SELECT v.user_id, '', 0, 0, 0, 0 FROM viewer_reports v WHERE v.at >= since AND v.at < upto
    ) f
    GROUP BY f.user_id, f.lane;
END $$;

DROP FUNCTION board_fresh(text, timestamptz, bigint, uuid[]);
CREATE FUNCTION board_fresh(one_lane text, month timestamptz, upto bigint, operators uuid[] DEFAULT NULL)
RETURNS TABLE (user_id uuid, lane text, tier text, handle text, score bigint, won bigint, lost bigint, void bigint, total bigint,
    calls bigint, takes bigint, month_score bigint, month_done bigint, cast_all integer, cast_month integer, counted bigint,
    viewer_minutes bigint)
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
        UNION SELECT user_id FROM board_viewers_due WHERE operators IS NULL
        UNION SELECT unnest(operators)
    ), act AS MATERIALIZED (
        SELECT m.user_id, u.tier, u.handle, t.total,
            t.total - coalesce(a.calls, 0) - coalesce(e.calls, 0) AS calls,
            coalesce(k.takes, 0) - coalesce(a.takes, 0) - coalesce(e.takes, 0) AS takes,
            (SELECT coalesce(sum(v.viewer_seconds), 0)::bigint / 60 FROM viewer_reports v
                WHERE v.user_id = m.user_id AND v.at >= month) AS viewers
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
        SELECT l.user_id, l.lane, sum(l.score)::bigint, sum(l.won)::bigint, sum(l.lost)::bigint, sum(l.void)::bigint,
            sum(l.counted)::bigint
        FROM (
            SELECT c.user_id, c.lane, c.score, c.won, c.lost, c.void, c.counted
            FROM act o
            CROSS JOIN LATERAL (
                SELECT user_id, lane, score, won, lost, void, counted FROM operator_lane_scores
                WHERE user_id = o.user_id AND (one_lane IS NULL OR lane = one_lane) LIMIT 100) c
            UNION ALL
            SELECT p.user_id, p.lane, p.score, p.won, p.lost, p.void, p.counted FROM pending p WHERE one_lane IS NULL OR
                p.lane = one_lane
        ) l
        GROUP BY l.user_id, l.lane
    )
    SELECT r.user_id, r.lane, o.tier, o.handle, r.score, r.won, r.lost, r.void, o.total, o.calls, o.takes,
        w.score, w.done, board_cast(r.score, r.counted, o.calls, o.takes, o.viewers),
        board_cast(w.score, w.done, o.calls, o.takes, o.viewers), r.counted, o.viewers
    FROM record r
    JOIN act o ON o.user_id = r.user_id
    LEFT JOIN LATERAL (SELECT score, done FROM operator_aged WHERE user_id = r.user_id AND lane = r.lane LIMIT 1) a ON true
    LEFT JOIN edge e ON e.user_id = r.user_id AND e.lane = r.lane
    CROSS JOIN LATERAL (SELECT
        r.score - coalesce(a.score, 0) - coalesce(e.score, 0) AS score,
        r.counted - coalesce(a.done, 0) - coalesce(e.done, 0) AS done) w;
END $$;

CREATE OR REPLACE FUNCTION fill_boards(after uuid, most integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp SET lock_timeout = '5s' SET jit = off SET enable_seqscan =
    off AS $$
#variable_conflict use_column
DECLARE
    who    uuid[];
    window_start timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(7201002); -- as every writer of these tables
    SELECT since INTO window_start FROM board_state;
    SELECT array_agg(user_id ORDER BY user_id) INTO who FROM (
        SELECT user_id FROM operator_totals WHERE total > 0 AND (fill_boards.after IS NULL OR user_id > fill_boards.after)
            ORDER BY user_id LIMIT most
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
        calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes)
    SELECT user_id, lane, tier, handle, score, won, lost, void, total,
        calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes
    FROM board_fresh(NULL, window_start, NULL, who)
    WHERE user_id = ANY (who)
    ON CONFLICT (user_id, lane) DO UPDATE SET
        tier = excluded.tier, handle = excluded.handle, score = excluded.score, won = excluded.won, lost = excluded.lost,
        void = excluded.void, total = excluded.total, calls = excluded.calls, takes = excluded.takes,
        month_score = excluded.month_score, month_done = excluded.month_done,
        cast_all = excluded.cast_all, cast_month = excluded.cast_month, counted = excluded.counted,
        viewer_minutes = excluded.viewer_minutes;
    INSERT INTO board_due (user_id, lane) SELECT user_id, lane FROM board_rows WHERE user_id = ANY (who) AND won + lost > 0
    ON CONFLICT DO NOTHING;
    RETURN who[cardinality(who)];
END $$;
