-- The board of broadcast scores over 28 days (contract 4.8.3). $1 tiers, $2 lane ('': the whole record), $3 limit, $4 start of the 28 days.
-- The first rows of each tier that nothing moved, and those that something did. In a lane also those that have only open calls in it:
-- no row is kept of them there, and what they do counts as on the whole board.
WITH moved AS MATERIALIZED (
    SELECT f.user_id, f.lane, f.tier, f.handle COLLATE "C" AS handle, f.score, f.won, f.lost, f.void, f.total, f.won + f.lost AS resolved,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy,
        f.calls, f.takes, f.month_score, f.month_done, f.cast_all, f.cast_month
    FROM board_fresh(CASE WHEN $2 = '' THEN '' END, greatest($4, (SELECT since FROM board_state)), NULL) f
    WHERE f.lane IN ('', $2)
), fresh AS (
    SELECT user_id, tier, handle, score, won, lost, void, total, resolved, accuracy, calls, takes, month_score, month_done, cast_all, cast_month
    FROM moved WHERE lane = $2
), waiting AS MATERIALIZED (
    SELECT w.user_id, r.total, r.handle, r.calls, r.takes, board_cast(0, 0, r.calls, r.takes) AS cast_open
    FROM (
        SELECT DISTINCT s.user_id
        FROM open_signals o
        JOIN markets m ON m.market_id = o.market_id AND m.lane = $2
        JOIN signals s ON s.id = o.signal_id
        WHERE $2 <> '' AND NOT EXISTS (SELECT FROM signal_results x WHERE x.signal_id = s.id)
    ) w
    CROSS JOIN LATERAL (
        SELECT tier, handle, total, calls, takes FROM moved WHERE user_id = w.user_id AND lane = ''
        UNION ALL
        SELECT tier, handle, total, calls, takes FROM board_rows
        WHERE user_id = w.user_id AND lane = '' AND user_id NOT IN (SELECT user_id FROM moved WHERE lane = '')
    ) r
    WHERE r.tier = ANY ($1) AND w.user_id NOT IN (SELECT user_id FROM fresh)
        AND NOT EXISTS (SELECT FROM board_rows b WHERE b.user_id = w.user_id AND b.lane = $2)
), top AS (
    SELECT user_id, score, won, lost, void, total, resolved, accuracy, handle, calls, takes, month_score, month_done, cast_all, cast_month,
        skill_calls, edge_bps, low_bps, high_bps
    FROM (
        SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.accuracy, k.handle, k.calls, k.takes,
            k.month_score, k.month_done, k.cast_all, k.cast_month, k.skill_calls, k.edge_bps, k.low_bps, k.high_bps
        FROM unnest($1::text[]) t (tier)
        CROSS JOIN LATERAL (
            SELECT user_id, score, won, lost, void, total, resolved, accuracy, handle, calls, takes, month_score, month_done, cast_all, cast_month,
                skill_calls, edge_bps, low_bps, high_bps
            FROM board_rows
            WHERE lane = $2 AND tier = t.tier AND user_id NOT IN (SELECT user_id FROM fresh)
            ORDER BY cast_month DESC, score DESC, resolved DESC, handle
            LIMIT $3
        ) k
        UNION ALL
        SELECT f.user_id, f.score, f.won, f.lost, f.void, f.total, f.resolved, f.accuracy, f.handle, f.calls, f.takes,
            f.month_score, f.month_done, f.cast_all, f.cast_month, k.skill_calls, k.edge_bps, k.low_bps, k.high_bps
        FROM fresh f
        LEFT JOIN LATERAL (SELECT skill_calls, edge_bps, low_bps, high_bps FROM board_rows WHERE user_id = f.user_id AND lane = $2 LIMIT 1) k ON true
        WHERE f.tier = ANY ($1)
        UNION ALL
        SELECT user_id, 0, 0, 0, 0, total, 0, 0, handle, calls, takes, 0, 0, cast_open, cast_open, NULL, NULL, NULL, NULL FROM waiting
    ) r
    ORDER BY cast_month DESC, score DESC, resolved DESC, handle
    LIMIT $3
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address,
    r.score, CASE WHEN $2 = '' THEN r.total ELSE r.won + r.lost + r.void + (
        -- Those without a result, which are among the newest: not more of them are looked for than there are.
        SELECT count(*) FROM (
            SELECT s.market_id FROM signals s
            WHERE s.user_id = u.id AND NOT EXISTS (SELECT FROM signal_results x WHERE x.signal_id = s.id)
            ORDER BY s.created_at DESC
            LIMIT greatest(0, r.total - (SELECT c.won + c.lost + c.void FROM operator_scores c WHERE c.user_id = u.id))) w
        JOIN markets m ON m.market_id = w.market_id AND m.lane = $2) END,
    r.won, r.lost, r.void, coalesce(r.skill_calls, 0), coalesce(r.edge_bps, 0), coalesce(r.low_bps, 0), coalesce(r.high_bps, 0),
    r.cast_month, r.calls, r.takes, r.month_score, r.month_done
FROM top r JOIN users u ON u.id = r.user_id
ORDER BY r.cast_month DESC, r.score DESC, r.resolved DESC, r.handle
