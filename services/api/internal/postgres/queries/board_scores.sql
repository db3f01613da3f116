-- The board of the API host (contract 4.8.4). $1 tiers, $2 lane ('': the whole record), $3 limit, $4 start of the 28 days.
-- The first rows of each tier that nothing moved, and those that something did.
WITH fresh AS MATERIALIZED (
    SELECT f.user_id, f.tier, f.handle COLLATE "C" AS handle, f.score, f.won, f.lost, f.void, f.total, f.won + f.lost AS resolved,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy,
        f.calls, f.takes, f.month_score, f.month_done, f.cast_all, f.cast_month
    FROM board_fresh($2, greatest($4, (SELECT since FROM board_state)), NULL) f
), top AS (
    SELECT user_id, score, won, lost, void, total, resolved, accuracy, handle, calls, takes, month_score, month_done, cast_all, cast_month
    FROM (
        SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.accuracy, k.handle, k.calls, k.takes,
            k.month_score, k.month_done, k.cast_all, k.cast_month
        FROM unnest($1::text[]) t (tier)
        CROSS JOIN LATERAL (
            SELECT user_id, score, won, lost, void, total, resolved, accuracy, handle, calls, takes, month_score, month_done, cast_all, cast_month
            FROM board_rows
            WHERE lane = $2 AND tier = t.tier AND user_id NOT IN (SELECT user_id FROM fresh)
            ORDER BY score DESC, resolved DESC, accuracy DESC, handle
            LIMIT $3
        ) k
        UNION ALL
        SELECT user_id, score, won, lost, void, total, resolved, accuracy, handle, calls, takes, month_score, month_done, cast_all, cast_month
        FROM fresh WHERE tier = ANY ($1)
    ) r
    ORDER BY score DESC, resolved DESC, accuracy DESC, handle
    LIMIT $3
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address,
    r.score, CASE WHEN $2 = '' THEN r.total ELSE (
        SELECT count(*) FROM signals s JOIN markets m ON m.market_id = s.market_id WHERE s.user_id = u.id AND m.lane = $2) END,
    r.won, r.lost, r.void, coalesce(k.skill_calls, 0), coalesce(k.edge_bps, 0), coalesce(k.low_bps, 0), coalesce(k.high_bps, 0)
FROM top r JOIN users u ON u.id = r.user_id LEFT JOIN board_rows k ON k.user_id = r.user_id AND k.lane = $2
ORDER BY r.score DESC, r.resolved DESC, r.accuracy DESC, r.handle
