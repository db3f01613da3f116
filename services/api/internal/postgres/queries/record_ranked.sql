-- The first places of the ranked field. $1 limit, $2 start of the 28 days.
-- The first rows of each tier that nothing moved, and those that something did.
WITH fresh AS MATERIALIZED (
    SELECT f.user_id, f.tier, f.handle COLLATE "C" AS handle, f.score, f.total, f.counted, f.won + f.lost AS resolved,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy
    FROM board_fresh('', greatest($2, (SELECT since FROM board_state)), NULL) f
), top AS (
    SELECT user_id, score, total, resolved, accuracy, handle
    FROM (
        SELECT k.user_id, k.score, k.total, k.resolved, k.accuracy, k.handle
        FROM unnest(ARRAY['independent', 'house']) t (tier)
        CROSS JOIN LATERAL (
            SELECT user_id, score, total, resolved, accuracy, handle
            FROM board_rows
            WHERE lane = '' AND tier = t.tier AND counted > 0 AND user_id NOT IN (SELECT user_id FROM fresh)
            ORDER BY score DESC, resolved DESC, accuracy DESC, handle
            LIMIT $1
        ) k
        UNION ALL
        SELECT user_id, score, total, resolved, accuracy, handle FROM fresh WHERE tier <> 'automated' AND counted > 0
    ) r
    ORDER BY score DESC, resolved DESC, accuracy DESC, handle
    LIMIT $1
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address,
    r.total, c.won, c.lost, c.void, c.score, c.streak, c.clv_sum, c.clv_count
FROM top r
JOIN users u ON u.id = r.user_id
JOIN operator_scores c ON c.user_id = r.user_id
ORDER BY r.score DESC, r.resolved DESC, r.accuracy DESC, r.handle
