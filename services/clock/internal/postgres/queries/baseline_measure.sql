UPDATE baselines SET measured_at = $4, measured = $2, moved_bps = $3
WHERE slot = $1 AND measured_at IS NULL
