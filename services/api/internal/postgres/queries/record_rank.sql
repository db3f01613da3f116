-- The rank of an operator in the field of those with a counted call, the size of the field,
-- and the broadcast score. $1 user, $2 start of the 28 days. The stored rows are counted by
-- points; those that something changed since are taken as they are now.
WITH fresh AS MATERIALIZED (
    SELECT f.user_id, f.tier, f.handle COLLATE "C" AS handle, f.score, f.counted, f.won + f.lost AS resolved, f.cast_all,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy
    FROM board_fresh('', greatest($2, (SELECT since FROM board_state)), NULL) f
), own AS (
    SELECT tier, handle, score, counted, resolved, accuracy, cast_all FROM fresh WHERE user_id = $1
    UNION ALL
    SELECT tier, handle, score, counted, resolved, accuracy, cast_all FROM board_rows
    WHERE user_id = $1 AND lane = '' AND NOT EXISTS (SELECT FROM fresh WHERE user_id = $1)
), moved AS (
    -- Each as it is now (1) and as it was stored (-1), where that is in the field.
    SELECT 1 AS n, tier, handle, score, resolved, accuracy FROM fresh WHERE tier <> 'automated' AND counted > 0
    UNION ALL
    SELECT -1, b.tier, b.handle, b.score, b.resolved, b.accuracy
    FROM fresh f CROSS JOIN LATERAL (
        SELECT tier, handle, score, counted, resolved, accuracy FROM board_rows WHERE user_id = f.user_id AND lane = '' LIMIT 1) b
    WHERE b.tier <> 'automated' AND b.counted > 0
)
SELECT
    CASE WHEN o.tier <> 'automated' AND o.counted > 0 THEN 1
        + coalesce((SELECT sum(f.operators) FROM board_field f WHERE f.tier <> 'automated' AND f.score > o.score), 0)
        + (SELECT count(*) FROM board_rows b
            WHERE b.lane = '' AND b.tier IN ('independent', 'house') AND b.score = o.score AND b.counted > 0
                AND (b.resolved, b.accuracy) >= (o.resolved, o.accuracy)
                AND ((b.resolved, b.accuracy) > (o.resolved, o.accuracy) OR b.handle < o.handle))
        + coalesce((SELECT sum(m.n) FROM moved m
            WHERE m.score > o.score OR m.score = o.score AND ((m.resolved, m.accuracy) > (o.resolved, o.accuracy)
                OR m.resolved = o.resolved AND m.accuracy = o.accuracy AND m.handle < o.handle)), 0)
    END::bigint,
    (coalesce((SELECT sum(f.operators) FROM board_field f WHERE f.tier <> 'automated'), 0)
        + coalesce((SELECT sum(m.n) FROM moved m), 0))::bigint,
    coalesce(o.cast_all, board_cast(0, 0, 0, 0))
FROM (SELECT) one LEFT JOIN own o ON true
