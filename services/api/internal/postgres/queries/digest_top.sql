-- The best counted calls that were resolved in a window. $1 from, $2 to, $3 limit.
SELECT s.id, u.handle, shown_title(s.market_id, s.market_title), s.yes, coalesce(r.basis_bps, s.score_basis_bps), r.score
FROM market_resolutions m
JOIN signals s ON s.market_id = m.market_id
JOIN signal_results r ON r.signal_id = s.id AND r.status = 'won' AND r.counted
JOIN users u ON u.id = s.user_id AND u.tier IN ('independent', 'house')
WHERE m.resolved_at >= $1 AND m.resolved_at < $2
ORDER BY r.score DESC, 5, s.id
LIMIT $3
