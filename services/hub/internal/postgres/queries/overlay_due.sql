-- Operators whose signal has come to its end. $1 now, $2 limit.
SELECT handle FROM overlay_signals WHERE market_id IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2
