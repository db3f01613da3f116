-- $1 tiers (null: every one), $2 lane ('': the whole record).
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at,
    c.score, CASE WHEN $2 = '' THEN t.total ELSE (
        SELECT count(*) FROM signals s JOIN markets m ON m.market_id = s.market_id WHERE s.user_id = u.id AND m.lane = $2) END, c.won, c.lost, c.void
FROM (
    SELECT user_id, score, won, lost, void FROM operator_scores WHERE $2 = ''
    UNION ALL
    SELECT user_id, score, won, lost, void FROM operator_lane_scores WHERE lane = $2
) c
JOIN users u ON u.id = c.user_id
JOIN operator_totals t ON t.user_id = c.user_id AND t.total > 0
WHERE ($1::text[] IS NULL OR u.tier = ANY ($1))
ORDER BY c.score DESC, c.won + c.lost DESC,
    CASE WHEN c.won + c.lost = 0 THEN 0 ELSE (200 * c.won + c.won + c.lost) / (2 * (c.won + c.lost)) END DESC, u.handle
LIMIT $3
