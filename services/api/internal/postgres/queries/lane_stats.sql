-- The figures of one operator ($1) by lane (contract 4.2.4): that of the claim, or of the market today where there is none.
WITH called AS (
    SELECT coalesce(r.scoring_vertical, m.lane, 'OTHER') AS lane, s.id, s.created_at, r.status, r.score, r.clv_bps, r.resolved_at
    FROM signals s
    -- By key, one by one: how many calls there are is not known when this is planned.
    LEFT JOIN LATERAL (SELECT status, score, clv_bps, scoring_vertical, resolved_at FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id AND r.status IS NULL LIMIT 1) m ON true
    WHERE s.user_id = $1
), run AS (
    SELECT lane, status, score, clv_bps,
        count(*) FILTER (WHERE status = 'lost') OVER (PARTITION BY lane ORDER BY resolved_at DESC NULLS FIRST, created_at DESC, id DESC) AS losses
    FROM called
)
SELECT lane, count(*), count(*) FILTER (WHERE status = 'won'), count(*) FILTER (WHERE status = 'lost'), count(*) FILTER (WHERE status = 'void'),
    coalesce(sum(score), 0)::bigint, count(*) FILTER (WHERE status = 'won' AND losses = 0), coalesce(sum(clv_bps), 0)::bigint, count(clv_bps)
FROM run GROUP BY lane ORDER BY lane
