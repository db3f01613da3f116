-- The figures of one operator ($1) by lane (contract 4.2.4): that of the claim, or of the market today where there is none.
-- Points and streak are of counted calls, the closing line of counted calls on venue markets.
WITH called AS (
    SELECT coalesce(r.scoring_vertical, m.lane, 'OTHER') AS lane, s.id, s.created_at, r.status, r.score, r.resolved_at, coalesce(r.counted, false) AS counted,
        CASE WHEN r.counted AND s.market_id NOT LIKE 'native-%' THEN r.clv_bps END AS clv_bps
    FROM signals s
    -- By key, one by one: the number of calls is unknown when this is planned.
    LEFT JOIN LATERAL (SELECT status, score, clv_bps, scoring_vertical, resolved_at, counted FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id AND r.status IS NULL LIMIT 1) m ON true
    WHERE s.user_id = $1
), run AS (
    SELECT lane, status, score, clv_bps, counted,
        count(*) FILTER (WHERE counted AND status = 'lost') OVER (PARTITION BY lane ORDER BY resolved_at DESC NULLS FIRST, created_at DESC, id DESC) AS losses
    FROM called
)
SELECT lane, count(*), count(*) FILTER (WHERE status = 'won'), count(*) FILTER (WHERE status = 'lost'), count(*) FILTER (WHERE status = 'void'),
    coalesce(sum(score) FILTER (WHERE counted), 0)::bigint, count(*) FILTER (WHERE counted AND status = 'won' AND losses = 0),
    coalesce(sum(clv_bps), 0)::bigint, count(clv_bps)
FROM run GROUP BY lane ORDER BY lane
