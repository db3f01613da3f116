-- The functions of the boards as before, but planned once for a connection: one in plain
-- SQL is planned in each statement. After one change that was most of what it took.
CREATE OR REPLACE FUNCTION board_pending()
RETURNS TABLE (user_id uuid, lane text, score bigint, won bigint, lost bigint, void bigint, price_sum bigint)
LANGUAGE plpgsql STABLE ROWS 500 SET enable_seqscan = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.user_id, r.scoring_vertical, sum(r.score)::bigint, count(*) FILTER (WHERE r.status = 'won'),
        count(*) FILTER (WHERE r.status = 'lost'), count(*) FILTER (WHERE r.status = 'void'),
        coalesce(sum(within_price(s.score_basis_bps)) FILTER (WHERE r.status <> 'void'), 0)::bigint
    FROM (
        SELECT o.market_id, NULL::uuid AS after_user FROM outbox o WHERE o.type = 'market.resolved'
        UNION ALL
        SELECT f.market_id, f.after_user FROM feed_drains f
    ) d
    CROSS JOIN LATERAL (
        SELECT id, score_basis_bps FROM signals
        WHERE market_id = d.market_id AND user_id > coalesce(d.after_user, '00000000-0000-0000-0000-000000000000') OFFSET 0) s
    CROSS JOIN LATERAL (SELECT user_id, status, score, scoring_vertical FROM signal_results WHERE signal_id = s.id LIMIT 1) r
    GROUP BY r.user_id, r.scoring_vertical;
END $$;

-- Contract 4.8.3, as board.Broadcast measures it; round half up.
CREATE OR REPLACE FUNCTION board_cast(score bigint, done bigint, calls bigint, takes bigint) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    x float8 := 500 * least(1, greatest(0, 0.5::float8 + score::float8 / (50 * (done + 10)::float8)))
        + 300 * least(1, (calls::float8 + takes::float8 / 2) / 28);
BEGIN
    RETURN floor(x)::integer + (x - floor(x) >= 0.5)::integer;
END $$;

CREATE OR REPLACE FUNCTION board_fresh(one_lane text, month timestamptz, upto bigint, everyone boolean DEFAULT false)
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
        -- As an array: else room is made for every operator, though it is never asked for.
        UNION SELECT unnest(CASE WHEN everyone THEN ARRAY(SELECT user_id FROM operator_totals WHERE total > 0) END)
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
