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
        SELECT s.user_id, '' AS lane, 1 AS calls, coalesce(s.text_take <> '', false)::integer AS takes, 0 AS score, 0 AS done
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
