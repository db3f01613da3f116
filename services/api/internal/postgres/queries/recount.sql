-- Every counter beside a count of the record; rows are the differences. Signals and
-- results are each read once; all counts follow from the two. What was called at is in
-- the signal alone: which of them are decided is read from the claim on their market.
WITH called AS MATERIALIZED (
    -- By market, and by operator and lane of the claim (null: none).
    SELECT s.market_id, s.user_id, c.lane, count(*) AS n, count(*) FILTER (WHERE s.yes) AS yes,
        count(*) FILTER (WHERE s.created_at < b.since) AS aged,
        coalesce(sum(least(greatest(s.score_basis_bps, 1), 9999)) FILTER (WHERE c.decided
            AND (c.drained OR s.user_id <= c.after_user)), 0) AS price_sum
    FROM board_state b CROSS JOIN signals s
    LEFT JOIN (
        SELECT r.market_id, r.lane, r.outcome <> 'INVALID' AS decided, d.market_id IS NULL AS drained, d.after_user
        FROM market_resolutions r LEFT JOIN score_drains d ON d.market_id = r.market_id
    ) c ON c.market_id = s.market_id
    GROUP BY GROUPING SETS ((s.market_id), (s.user_id, c.lane))
), machine AS (
    SELECT s.market_id AS id, count(*) FILTER (WHERE s.yes) AS yes, count(*) FILTER (WHERE NOT s.yes) AS no
    FROM users u JOIN signals s ON s.user_id = u.id WHERE NOT u.crowd GROUP BY s.market_id
), market AS (
    SELECT c.market_id AS id, c.yes, c.n - c.yes AS no, c.yes - coalesce(m.yes, 0) AS crowd_yes, c.n - c.yes - coalesce(m.no, 0) AS crowd_no
    FROM called c LEFT JOIN machine m ON m.id = c.market_id WHERE c.market_id IS NOT NULL
), total AS MATERIALIZED (
    SELECT user_id AS id, sum(n) AS total, sum(aged) AS aged, sum(price_sum) AS price_sum FROM called WHERE user_id IS NOT NULL GROUP BY user_id
), lane AS MATERIALIZED (
    SELECT r.id, r.lane, r.won, r.lost, r.void, r.score, r.clv_sum, r.clv_count, r.beat_line, r.aged_score, r.aged_done, coalesce(c.price_sum, 0) AS price_sum
    FROM (
        SELECT r.user_id AS id, r.scoring_vertical AS lane, count(*) FILTER (WHERE r.status = 'won') AS won,
            count(*) FILTER (WHERE r.status = 'lost') AS lost, count(*) FILTER (WHERE r.status = 'void') AS void, sum(r.score) AS score,
            coalesce(sum(r.clv_bps), 0) AS clv_sum, count(r.clv_bps) AS clv_count, count(*) FILTER (WHERE r.clv_bps > 0) AS beat_line,
            coalesce(sum(r.score) FILTER (WHERE r.resolved_at < b.since), 0) AS aged_score,
            count(*) FILTER (WHERE r.resolved_at < b.since AND r.status <> 'void') AS aged_done
        FROM board_state b CROSS JOIN signal_results r GROUP BY r.user_id, r.scoring_vertical
    ) r LEFT JOIN called c ON c.user_id = r.id AND c.lane = r.lane
), score AS MATERIALIZED (
    SELECT l.id, sum(l.won) AS won, sum(l.lost) AS lost, sum(l.void) AS void, sum(l.score) AS score, sum(l.clv_sum) AS clv_sum,
        sum(l.clv_count) AS clv_count, sum(l.beat_line) AS beat_line, sum(l.aged_score) AS aged_score, sum(l.aged_done) AS aged_done,
        sum(l.price_sum) AS price_sum
    FROM lane l GROUP BY l.id
), take AS (
    SELECT s.user_id AS id, count(*) AS takes, count(*) FILTER (WHERE e.created_at < (SELECT since FROM board_state)) AS aged
    FROM signal_events e JOIN signals s ON s.id = e.signal_id WHERE e.type = 'take' GROUP BY s.user_id
), aged AS (
    -- What is older than the window of board_rows.
    SELECT id, lane, sum(calls) AS calls, sum(takes) AS takes, sum(score) AS score, sum(done) AS done FROM (
        SELECT id, '' AS lane, aged AS calls, 0 AS takes, 0 AS score, 0 AS done FROM total
        UNION ALL SELECT id, '', 0, aged, 0, 0 FROM take
        UNION ALL SELECT id, '', 0, 0, aged_score, aged_done FROM score
        UNION ALL SELECT id, lane, 0, 0, aged_score, aged_done FROM lane
    ) f GROUP BY id, lane
), moved AS (
    SELECT user_id FROM board_fresh('', (SELECT since FROM board_state), NULL)
), row_of AS (
    -- A row must equal the record, but for operators that something moved since.
    SELECT c.user_id AS id, '' AS lane, c.score, c.won, c.lost, c.void, t.total,
        t.total - coalesce(a.calls, 0) AS calls, coalesce(k.takes, 0) - coalesce(a.takes, 0) AS takes,
        c.score - coalesce(a.score, 0) AS month_score, c.won + c.lost - coalesce(a.done, 0) AS month_done
    FROM operator_scores c
    JOIN operator_totals t ON t.user_id = c.user_id AND t.total > 0
    LEFT JOIN take k ON k.id = c.user_id
    LEFT JOIN aged a ON a.id = c.user_id AND a.lane = ''
    UNION ALL
    SELECT c.id, c.lane, c.score, c.won, c.lost, c.void, o.total, o.calls, o.takes,
        c.score - coalesce(a.score, 0), c.won + c.lost - coalesce(a.done, 0)
    FROM lane c
    JOIN (
        SELECT t.id, t.total, t.total - coalesce(a.calls, 0) AS calls, coalesce(k.takes, 0) - coalesce(a.takes, 0) AS takes
        FROM total t LEFT JOIN take k ON k.id = t.id LEFT JOIN aged a ON a.id = t.id AND a.lane = ''
    ) o ON o.id = c.id
    LEFT JOIN aged a ON a.id = c.id AND a.lane = c.lane
)
SELECT 'market_totals', coalesce(k.market_id, c.id), row(k.yes, k.no, k.crowd_yes, k.crowd_no)::text, row(c.yes, c.no, c.crowd_yes, c.crowd_no)::text
FROM market_totals k FULL JOIN market c ON c.id = k.market_id
WHERE (coalesce(k.yes, 0), coalesce(k.no, 0), coalesce(k.crowd_yes, 0), coalesce(k.crowd_no, 0))
    IS DISTINCT FROM (coalesce(c.yes, 0), coalesce(c.no, 0), coalesce(c.crowd_yes, 0), coalesce(c.crowd_no, 0))
UNION ALL
SELECT 'operator_totals', coalesce(k.user_id, c.id)::text, row(k.total, k.crowd)::text, row(c.total, u.crowd)::text
FROM operator_totals k FULL JOIN total c ON c.id = k.user_id LEFT JOIN users u ON u.id = coalesce(k.user_id, c.id)
WHERE coalesce(k.total, 0) <> coalesce(c.total, 0) OR k.crowd <> u.crowd
UNION ALL
SELECT 'operator_scores', coalesce(k.user_id, c.id)::text, row(k.won, k.lost, k.void, k.score, k.clv_sum, k.clv_count, k.beat_line, k.price_sum)::text,
    row(c.won, c.lost, c.void, c.score, c.clv_sum, c.clv_count, c.beat_line, c.price_sum)::text
FROM operator_scores k FULL JOIN score c ON c.id = k.user_id
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.clv_sum, 0), coalesce(k.clv_count, 0), coalesce(k.beat_line, 0), coalesce(k.price_sum, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.clv_sum, 0), coalesce(c.clv_count, 0), coalesce(c.beat_line, 0), coalesce(c.price_sum, 0))
UNION ALL
SELECT 'operator_lane_scores', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.won, k.lost, k.void, k.score, k.price_sum)::text,
    row(c.won, c.lost, c.void, c.score, c.price_sum)::text
FROM (
    -- With the results whose feed rows are still to be numbered: those move them.
    SELECT user_id, lane, sum(won) AS won, sum(lost) AS lost, sum(void) AS void, sum(score) AS score, sum(price_sum) AS price_sum
    FROM (
        SELECT user_id, lane, won, lost, void, score, price_sum FROM operator_lane_scores
        UNION ALL SELECT user_id, lane, won, lost, void, score, price_sum FROM board_pending()
    ) l GROUP BY user_id, lane
) k FULL JOIN lane c ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.price_sum, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.price_sum, 0))
UNION ALL
SELECT 'operator_takes', coalesce(k.user_id, c.id)::text, k.takes::text, c.takes::text
FROM operator_takes k FULL JOIN take c ON c.id = k.user_id
WHERE coalesce(k.takes, 0) <> coalesce(c.takes, 0)
UNION ALL
SELECT 'operator_aged', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.calls, k.takes, k.score, k.done)::text,
    row(c.calls, c.takes, c.score, c.done)::text
FROM operator_aged k FULL JOIN aged c ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.calls, 0), coalesce(k.takes, 0), coalesce(k.score, 0), coalesce(k.done, 0))
    IS DISTINCT FROM (coalesce(c.calls, 0), coalesce(c.takes, 0), coalesce(c.score, 0), coalesce(c.done, 0))
UNION ALL
SELECT 'board_rows', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane),
    row(k.tier, k.handle, k.score, k.won, k.lost, k.void, k.total, k.calls, k.takes, k.month_score, k.month_done)::text,
    row(u.tier, u.handle, c.score, c.won, c.lost, c.void, c.total, c.calls, c.takes, c.month_score, c.month_done)::text
FROM board_rows k FULL JOIN row_of c ON c.id = k.user_id AND c.lane = k.lane
LEFT JOIN users u ON u.id = c.id
WHERE coalesce(k.user_id, c.id) NOT IN (SELECT user_id FROM moved)
    AND (k.tier, k.handle, k.score, k.won, k.lost, k.void, k.total, k.calls, k.takes, k.month_score, k.month_done)
    IS DISTINCT FROM (u.tier, u.handle, c.score, c.won, c.lost, c.void, c.total, c.calls, c.takes, c.month_score, c.month_done)
LIMIT 1000
