-- The totals of the pulse at $1. What is of all time comes from counters; the rolling
-- weeks are counted, and an operator's newest call is looked up.
WITH filers AS (
    SELECT u.id, u.tier, t.total
    FROM operator_totals t JOIN users u ON u.id = t.user_id
    WHERE t.total > 0
), scored AS (
    SELECT coalesce(sum(won), 0) AS won, coalesce(sum(lost), 0) AS lost, coalesce(sum(void), 0) AS void,
        coalesce(sum(clv_count), 0) AS clv, coalesce(sum(beat_line), 0) AS beat
    FROM operator_scores
), weeks AS (
    SELECT count(*) FILTER (WHERE s.created_at >= $1::timestamptz - interval '168 hours') AS last7,
        count(*) FILTER (WHERE s.created_at < $1::timestamptz - interval '168 hours') AS prev7
    FROM signals s JOIN users u ON u.id = s.user_id AND u.tier = 'independent'
    WHERE s.created_at >= $1::timestamptz - interval '336 hours' AND s.created_at < $1
), tiers AS (
    SELECT coalesce(sum(total), 0) AS signals,
        coalesce(sum(total) FILTER (WHERE tier = 'independent'), 0) AS independent,
        coalesce(sum(total) FILTER (WHERE tier = 'house'), 0) AS house,
        coalesce(sum(total) FILTER (WHERE tier = 'automated'), 0) AS automated,
        count(*) FILTER (WHERE tier = 'independent') AS operators,
        count(*) FILTER (WHERE tier = 'house') AS houses,
        count(*) FILTER (WHERE tier = 'independent' AND EXISTS (
            SELECT FROM signals s WHERE s.user_id = filers.id AND s.created_at >= $1::timestamptz - interval '672 hours')) AS active28
    FROM filers
)
SELECT t.signals::bigint, t.independent::bigint, t.house::bigint, t.automated::bigint, w.last7, w.prev7,
    t.operators, t.active28, t.houses, (SELECT count(*) FROM users),
    (SELECT count(*) FROM market_totals WHERE yes + no > 0),
    c.won::bigint, c.lost::bigint, (t.signals - c.won - c.lost - c.void)::bigint, c.clv::bigint, c.beat::bigint
FROM tiers t, weeks w, scored c
