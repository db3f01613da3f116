-- Compares every counter with a count of the record; rows are the differences. Signals and
-- results are each read once for the counts of published calls, and joined for those of
-- counted calls, whose market and price are in the signal.
WITH called AS MATERIALIZED (
    -- By market, and by operator.
    SELECT s.market_id, s.user_id, count(*) AS n, count(*) FILTER (WHERE s.yes) AS yes,
        count(*) FILTER (WHERE s.created_at < (SELECT since FROM board_state)) AS aged
    FROM signals s
    GROUP BY GROUPING SETS ((s.market_id), (s.user_id))
), machine AS (
    SELECT s.market_id AS id, count(*) FILTER (WHERE s.yes) AS yes, count(*) FILTER (WHERE NOT s.yes) AS no
    FROM users u JOIN signals s ON s.user_id = u.id
    WHERE NOT u.crowd GROUP BY s.market_id
), market AS (
    SELECT c.market_id AS id, c.yes, c.n - c.yes AS no, c.yes - coalesce(m.yes, 0) AS crowd_yes, c.n - c.yes - coalesce(m.no, 0) AS crowd_no
    FROM called c LEFT JOIN machine m ON m.id = c.market_id WHERE c.market_id IS NOT NULL
), total AS (
    SELECT user_id AS id, n AS total, aged FROM called WHERE user_id IS NOT NULL
), lane AS MATERIALIZED (
    SELECT r.user_id AS id, r.scoring_vertical AS lane, count(*) FILTER (WHERE r.status = 'won') AS won,
        count(*) FILTER (WHERE r.status = 'lost') AS lost, count(*) FILTER (WHERE r.status = 'void') AS void,
        coalesce(sum(r.score) FILTER (WHERE r.counted), 0) AS score, count(*) FILTER (WHERE r.counted) AS counted,
        count(*) FILTER (WHERE l.line) AS counted_lines, coalesce(sum(r.clv_bps) FILTER (WHERE l.line), 0) AS clv_sum,
        count(r.clv_bps) FILTER (WHERE l.line) AS clv_count, count(*) FILTER (WHERE l.line AND r.clv_bps > 0) AS beat_line,
        coalesce(sum(least(greatest(coalesce(r.basis_bps, s.score_basis_bps), 1), 9999)) FILTER (WHERE l.line), 0) AS price_sum,
        coalesce(sum(r.score) FILTER (WHERE r.counted AND r.resolved_at < (SELECT since FROM board_state)), 0) AS aged_score,
        count(*) FILTER (WHERE r.counted AND r.resolved_at < (SELECT since FROM board_state)) AS aged_done
    FROM signal_results r
    JOIN signals s ON s.id = r.signal_id
    CROSS JOIN LATERAL (SELECT r.counted AND s.market_id NOT LIKE 'native-%' AS line) l
    GROUP BY r.user_id, r.scoring_vertical
), score AS (
    SELECT l.id, sum(l.won)::bigint AS won, sum(l.lost)::bigint AS lost, sum(l.void)::bigint AS void, sum(l.score)::bigint AS score,
        sum(l.counted)::bigint AS counted, sum(l.counted_lines)::bigint AS counted_lines,
        sum(l.clv_sum)::bigint AS clv_sum, sum(l.clv_count)::bigint AS clv_count, sum(l.beat_line)::bigint AS beat_line,
        sum(l.aged_score)::bigint AS aged_score, sum(l.aged_done)::bigint AS aged_done, sum(l.price_sum)::bigint AS price_sum
    FROM lane l GROUP BY l.id
), take AS (
    SELECT s.user_id AS id, count(*) AS takes, count(*) FILTER (WHERE e.created_at < (SELECT since FROM board_state)) AS aged
    FROM signal_events e JOIN signals s ON s.id = e.signal_id WHERE e.type = 'take' GROUP BY s.user_id
), whole AS MATERIALIZED (
    -- Each operator once, with all that is counted of the whole record.
    SELECT id, t.total, coalesce(t.aged, 0) AS aged, k.takes, coalesce(k.aged, 0) AS takes_aged, s.won, s.lost, s.void, s.score, s.clv_sum, s.clv_count, s.beat_line,
        s.counted, s.counted_lines, s.price_sum, coalesce(s.aged_score, 0) AS aged_score, coalesce(s.aged_done, 0) AS aged_done
    FROM total t FULL JOIN score s USING (id) FULL JOIN take k USING (id)
), moved AS (
    SELECT user_id FROM board_fresh('', (SELECT since FROM board_state), NULL)
), row_of AS (
    -- A row must equal the record, but for operators that something moved since; its
    -- window is the record without what is older.
    SELECT c.user_id AS id, '' AS lane, c.score, c.won, c.lost, c.void, t.total,
        t.total - coalesce(w.aged, 0) AS calls, coalesce(w.takes, 0) - coalesce(w.takes_aged, 0) AS takes,
        c.score - coalesce(w.aged_score, 0) AS month_score, c.counted - coalesce(w.aged_done, 0) AS month_done, c.counted
    FROM operator_scores c
    JOIN operator_totals t ON t.user_id = c.user_id AND t.total > 0
    LEFT JOIN whole w ON w.id = c.user_id
    UNION ALL
    SELECT c.id, c.lane, c.score, c.won, c.lost, c.void, w.total, w.total - w.aged, coalesce(w.takes, 0) - w.takes_aged,
        c.score - c.aged_score, c.counted - c.aged_done, c.counted
    FROM lane c JOIN whole w ON w.id = c.id AND w.total IS NOT NULL
)
SELECT 'market_totals', coalesce(k.market_id, c.id), row(k.yes, k.no, k.crowd_yes, k.crowd_no)::text, row(c.yes, c.no, c.crowd_yes, c.crowd_no)::text
FROM market_totals k FULL JOIN market c ON c.id = k.market_id
WHERE (coalesce(k.yes, 0), coalesce(k.no, 0), coalesce(k.crowd_yes, 0), coalesce(k.crowd_no, 0))
    IS DISTINCT FROM (coalesce(c.yes, 0), coalesce(c.no, 0), coalesce(c.crowd_yes, 0), coalesce(c.crowd_no, 0))
UNION ALL
SELECT 'operator_totals', coalesce(k.user_id, c.id)::text, row(k.total, k.crowd)::text, row(c.total, u.crowd)::text
FROM operator_totals k FULL JOIN whole c ON c.id = k.user_id LEFT JOIN users u ON u.id = coalesce(k.user_id, c.id)
WHERE coalesce(k.total, 0) <> coalesce(c.total, 0) OR k.crowd <> u.crowd
UNION ALL
SELECT 'operator_scores', coalesce(k.user_id, c.id)::text, row(k.won, k.lost, k.void, k.score, k.clv_sum, k.clv_count, k.beat_line, k.price_sum, k.counted, k.counted_lines)::text,
    row(c.won, c.lost, c.void, c.score, c.clv_sum, c.clv_count, c.beat_line, c.price_sum, c.counted, c.counted_lines)::text
FROM operator_scores k FULL JOIN whole c ON c.id = k.user_id
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.clv_sum, 0), coalesce(k.clv_count, 0), coalesce(k.beat_line, 0), coalesce(k.price_sum, 0),
        coalesce(k.counted, 0), coalesce(k.counted_lines, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.clv_sum, 0), coalesce(c.clv_count, 0), coalesce(c.beat_line, 0), coalesce(c.price_sum, 0),
        coalesce(c.counted, 0), coalesce(c.counted_lines, 0))
UNION ALL
SELECT 'operator_lane_scores', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.won, k.lost, k.void, k.score, k.price_sum, k.counted, k.counted_lines)::text,
    row(c.won, c.lost, c.void, c.score, c.price_sum, c.counted, c.counted_lines)::text
FROM operator_lane_scores k FULL JOIN (
    -- Without the results whose feed rows are still to be numbered: those move them.
    SELECT l.id, l.lane, l.won - coalesce(p.won, 0) AS won, l.lost - coalesce(p.lost, 0) AS lost, l.void - coalesce(p.void, 0) AS void,
        l.score - coalesce(p.score, 0) AS score, l.price_sum - coalesce(p.price_sum, 0) AS price_sum,
        l.counted - coalesce(p.counted, 0) AS counted, l.counted_lines - coalesce(p.counted_lines, 0) AS counted_lines
    FROM lane l LEFT JOIN board_pending() p ON p.user_id = l.id AND p.lane = l.lane
) c ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.price_sum, 0), coalesce(k.counted, 0), coalesce(k.counted_lines, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.price_sum, 0), coalesce(c.counted, 0), coalesce(c.counted_lines, 0))
UNION ALL
SELECT 'operator_takes', coalesce(k.user_id, c.id)::text, k.takes::text, c.takes::text
FROM operator_takes k FULL JOIN whole c ON c.id = k.user_id
WHERE coalesce(k.takes, 0) <> coalesce(c.takes, 0)
UNION ALL
-- What is older than the window of board_rows: of whole records, and of lanes.
SELECT 'operator_aged', coalesce(k.user_id, c.id)::text || ' ', row(k.calls, k.takes, k.score, k.done)::text,
    row(c.aged, c.takes_aged, c.aged_score, c.aged_done)::text
FROM (SELECT user_id, calls, takes, score, done FROM operator_aged WHERE lane = '') k FULL JOIN whole c ON c.id = k.user_id
WHERE (coalesce(k.calls, 0), coalesce(k.takes, 0), coalesce(k.score, 0), coalesce(k.done, 0))
    IS DISTINCT FROM (coalesce(c.aged, 0), coalesce(c.takes_aged, 0), coalesce(c.aged_score, 0), coalesce(c.aged_done, 0))
UNION ALL
SELECT 'operator_aged', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.calls, k.takes, k.score, k.done)::text,
    row(0, 0, c.aged_score, c.aged_done)::text
FROM (SELECT user_id, lane, calls, takes, score, done FROM operator_aged WHERE lane <> '') k FULL JOIN lane c ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.calls, 0), coalesce(k.takes, 0), coalesce(k.score, 0), coalesce(k.done, 0))
    IS DISTINCT FROM (0, 0, coalesce(c.aged_score, 0), coalesce(c.aged_done, 0))
UNION ALL
SELECT 'board_rows', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane),
    row(k.tier, k.handle, k.score, k.won, k.lost, k.void, k.total, k.calls, k.takes, k.month_score, k.month_done, k.counted)::text,
    row(u.tier, u.handle, c.score, c.won, c.lost, c.void, c.total, c.calls, c.takes, c.month_score, c.month_done, c.counted)::text
FROM board_rows k FULL JOIN row_of c ON c.id = k.user_id AND c.lane = k.lane
LEFT JOIN users u ON u.id = c.id
WHERE coalesce(k.user_id, c.id) NOT IN (SELECT user_id FROM moved)
    AND (k.tier, k.handle, k.score, k.won, k.lost, k.void, k.total, k.calls, k.takes, k.month_score, k.month_done, k.counted)
    IS DISTINCT FROM (u.tier, u.handle, c.score, c.won, c.lost, c.void, c.total, c.calls, c.takes, c.month_score, c.month_done, c.counted)
LIMIT 1000
