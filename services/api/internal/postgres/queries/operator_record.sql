-- What one operator has called: total, won, lost, void, score. $1 user.
SELECT coalesce((SELECT total FROM operator_totals WHERE user_id = $1), 0),
    coalesce(s.won, 0), coalesce(s.lost, 0), coalesce(s.void, 0), coalesce(s.score, 0)
FROM (SELECT $1::uuid AS user_id) u LEFT JOIN operator_scores s ON s.user_id = u.user_id
