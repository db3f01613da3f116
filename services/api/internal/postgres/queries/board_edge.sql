-- The board of the edge: by its lower end. $1 tiers, $2 lane ('': the whole record), $3 limit.
-- The rows as they were folded last: how good a record is is worked out behind it.
WITH top AS (
    SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.handle, k.calls, k.takes, k.cast_all,
        k.skill_calls, k.edge_bps, k.low_bps, k.high_bps
    FROM unnest($1::text[]) t (tier)
    CROSS JOIN LATERAL (
        SELECT user_id, score, won, lost, void, total, resolved, handle, calls, takes, cast_all, skill_calls, edge_bps, low_bps, high_bps
        FROM board_rows
        WHERE lane = $2 AND tier = t.tier AND skill_calls > 0
        ORDER BY low_bps DESC, edge_bps DESC, skill_calls DESC, handle
        LIMIT $3
    ) k
    ORDER BY low_bps DESC, edge_bps DESC, skill_calls DESC, handle
    LIMIT $3
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address,
    r.score, CASE WHEN $2 = '' THEN r.total ELSE r.won + r.lost + r.void + (
        -- Those without a result, which are among the newest: not more of them are looked for than there are.
        SELECT count(*) FROM (
            SELECT s.market_id FROM signals s
            WHERE s.user_id = u.id AND NOT EXISTS (SELECT FROM signal_results x WHERE x.signal_id = s.id)
            ORDER BY s.created_at DESC
            LIMIT greatest(0, (SELECT t.total FROM operator_totals t WHERE t.user_id = u.id) - (SELECT c.won + c.lost + c.void FROM operator_scores c WHERE c.user_id = u.id))) w
        JOIN markets m ON m.market_id = w.market_id AND m.lane = $2) END,
    r.won, r.lost, r.void, r.skill_calls, r.edge_bps, r.low_bps, r.high_bps,
    r.cast_all, r.calls, r.takes, r.score, r.resolved
FROM top r JOIN users u ON u.id = r.user_id
ORDER BY r.low_bps DESC, r.edge_bps DESC, r.skill_calls DESC, r.handle
