-- Every counter beside a count of the record; rows are the differences.
WITH market AS (
    SELECT s.market_id AS id, count(*) FILTER (WHERE s.yes) AS yes, count(*) FILTER (WHERE NOT s.yes) AS no,
        count(*) FILTER (WHERE s.yes AND u.crowd) AS crowd_yes, count(*) FILTER (WHERE NOT s.yes AND u.crowd) AS crowd_no
    FROM signals s JOIN users u ON u.id = s.user_id GROUP BY s.market_id
), total AS (
    SELECT user_id AS id, count(*) AS total FROM signals GROUP BY user_id
), score AS (
    SELECT user_id AS id, count(*) FILTER (WHERE status = 'won') AS won, count(*) FILTER (WHERE status = 'lost') AS lost,
        count(*) FILTER (WHERE status = 'void') AS void, sum(score) AS score, coalesce(sum(clv_bps), 0) AS clv_sum,
        count(clv_bps) AS clv_count, count(*) FILTER (WHERE clv_bps > 0) AS beat_line
    FROM signal_results GROUP BY user_id
), lane AS (
    SELECT user_id AS id, scoring_vertical AS lane, count(*) FILTER (WHERE status = 'won') AS won,
        count(*) FILTER (WHERE status = 'lost') AS lost, count(*) FILTER (WHERE status = 'void') AS void, sum(score) AS score
    FROM signal_results GROUP BY user_id, scoring_vertical
)
SELECT 'market_totals', coalesce(k.market_id, c.id), row(k.yes, k.no, k.crowd_yes, k.crowd_no)::text, row(c.yes, c.no, c.crowd_yes, c.crowd_no)::text
FROM market_totals k FULL JOIN market c ON c.id = k.market_id
WHERE (coalesce(k.yes, 0), coalesce(k.no, 0), coalesce(k.crowd_yes, 0), coalesce(k.crowd_no, 0))
    IS DISTINCT FROM (coalesce(c.yes, 0), coalesce(c.no, 0), coalesce(c.crowd_yes, 0), coalesce(c.crowd_no, 0))
UNION ALL
SELECT 'operator_totals', coalesce(k.user_id, c.id)::text, k.total::text, c.total::text
FROM operator_totals k FULL JOIN total c ON c.id = k.user_id
WHERE coalesce(k.total, 0) <> coalesce(c.total, 0)
UNION ALL
SELECT 'operator_scores', coalesce(k.user_id, c.id)::text, row(k.won, k.lost, k.void, k.score, k.clv_sum, k.clv_count, k.beat_line)::text,
    row(c.won, c.lost, c.void, c.score, c.clv_sum, c.clv_count, c.beat_line)::text
FROM operator_scores k FULL JOIN score c ON c.id = k.user_id
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.clv_sum, 0), coalesce(k.clv_count, 0), coalesce(k.beat_line, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.clv_sum, 0), coalesce(c.clv_count, 0), coalesce(c.beat_line, 0))
UNION ALL
SELECT 'operator_lane_scores', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.won, k.lost, k.void, k.score)::text,
    row(c.won, c.lost, c.void, c.score)::text
FROM operator_lane_scores k FULL JOIN lane c ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0))
LIMIT 1000
