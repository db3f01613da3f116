-- How far the next fold goes: $1 feed rows at most, and ten minutes from the next
-- fact that leaves the window, never past $2 nor past a claim that is not scored to
-- its end. The last column tells whether it gets to the head of both.
SELECT p.seq, p.since, p.seq = h.seq AND p.since >= least($2::timestamptz, p.held)
FROM feed_head h
CROSS JOIN (
    SELECT least(h.seq, b.seq + $1::bigint) AS seq, held,
        greatest(b.since, least($2::timestamptz, f.first + interval '10 minutes', held)) AS since
    FROM board_state b
    CROSS JOIN feed_head h
    CROSS JOIN LATERAL (
        SELECT least(
            (SELECT min(created_at) FROM signals WHERE created_at >= b.since),
            (SELECT min(created_at) FROM signal_events WHERE type = 'take' AND created_at >= b.since),
            (SELECT min(resolved_at) FROM market_resolutions WHERE resolved_at >= b.since)) AS first
    ) f
    CROSS JOIN LATERAL (
        SELECT min(r.resolved_at) AS held FROM score_drains d JOIN market_resolutions r ON r.market_id = d.market_id
    ) d
) p
