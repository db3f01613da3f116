-- $3: start of the window of the scores (null: all of life), $4: start of the 28 days.
WITH calls AS (
    SELECT user_id, count(*) AS n FROM signals WHERE created_at >= $4 GROUP BY user_id
), takes AS (
    SELECT s.user_id, count(*) AS n
    FROM signal_events e JOIN signals s ON s.id = e.signal_id
    WHERE e.type = 'take' AND e.created_at >= $4 GROUP BY s.user_id
), done AS (
    SELECT user_id, sum(score)::bigint AS score, count(*) FILTER (WHERE status <> 'void') AS n
    FROM signal_results
    WHERE $3::timestamptz IS NOT NULL AND resolved_at >= $3 AND ($2 = '' OR scoring_vertical = $2)
    GROUP BY user_id
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at,
    c.score, CASE WHEN $2 = '' THEN t.total ELSE (
        SELECT count(*) FROM signals s JOIN markets m ON m.market_id = s.market_id WHERE s.user_id = u.id AND m.lane = $2) END, c.won, c.lost, c.void,
    coalesce(calls.n, 0), coalesce(takes.n, 0),
    CASE WHEN $3::timestamptz IS NULL THEN c.score ELSE coalesce(done.score, 0) END,
    CASE WHEN $3::timestamptz IS NULL THEN c.won + c.lost ELSE coalesce(done.n, 0) END
FROM (
    SELECT user_id, score, won, lost, void FROM operator_scores WHERE $2 = ''
    UNION ALL
    SELECT user_id, score, won, lost, void FROM operator_lane_scores WHERE lane = $2
) c
JOIN users u ON u.id = c.user_id
JOIN operator_totals t ON t.user_id = c.user_id AND t.total > 0
LEFT JOIN calls ON calls.user_id = c.user_id
LEFT JOIN takes ON takes.user_id = c.user_id
LEFT JOIN done ON done.user_id = c.user_id
WHERE $1::text[] IS NULL OR u.tier = ANY ($1)
