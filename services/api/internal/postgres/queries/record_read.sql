-- The counters of one operator's record, with the best call. $1 user.
SELECT coalesce(t.total, 0), coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.streak, 0),
    coalesce(c.clv_sum, 0), coalesce(c.clv_count, 0), c.best_bps, c.best_signal, s.market_id, shown_title(s.market_id, s.market_title)
FROM (SELECT $1::uuid AS id) u
LEFT JOIN operator_totals t ON t.user_id = u.id
LEFT JOIN operator_scores c ON c.user_id = u.id
LEFT JOIN signals s ON s.id = c.best_signal
