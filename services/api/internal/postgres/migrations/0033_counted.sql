---- tern: disable-tx ----
-- Counters of the calls that count: counted, all of them; counted_lines, those on venue
-- markets. score, clv_sum, clv_count, beat_line, price_sum, best_*, streak and last_at are
-- made of calls that count; won, lost and void of all calls.
ALTER TABLE operator_scores
    ADD COLUMN IF NOT EXISTS counted       bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS counted_lines bigint NOT NULL DEFAULT 0;
ALTER TABLE operator_lane_scores
    ADD COLUMN IF NOT EXISTS counted       bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS counted_lines bigint NOT NULL DEFAULT 0;

-- The streak of an operator with one more counted result, which was resolved no later than
-- others that are scored: claims can be scored in another order than they are made.
CREATE OR REPLACE FUNCTION streak_with(who uuid, one_status text, one_at timestamptz, one_filed timestamptz, one uuid) RETURNS bigint
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT count(*) FROM (
        SELECT count(*) FILTER (WHERE status = 'lost') OVER (ORDER BY at DESC, filed DESC, id DESC) AS losses
        FROM (
            SELECT s.id, s.created_at AS filed, r.status, r.resolved_at AS at
            FROM signals s
            CROSS JOIN LATERAL (SELECT status, resolved_at, counted FROM signal_results WHERE signal_id = s.id LIMIT 1) r
            WHERE s.user_id = who AND r.counted
            UNION ALL SELECT one, one_filed, one_status, one_at
        ) k
    ) v WHERE losses = 0
$$;
