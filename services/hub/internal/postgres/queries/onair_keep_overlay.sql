-- A heartbeat keeps the signal over the picture. $1 handle, $2 now, $3 until.
UPDATE overlay_signals SET expires_at = greatest(expires_at, $3)
WHERE handle = $1 AND market_id IS NOT NULL AND expires_at > $2
