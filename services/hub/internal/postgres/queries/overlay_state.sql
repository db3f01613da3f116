-- Whether a signal that stands has come to its end. $1 handle, $2 now.
SELECT expires_at <= $2 FROM overlay_signals WHERE handle = $1 AND market_id IS NOT NULL
