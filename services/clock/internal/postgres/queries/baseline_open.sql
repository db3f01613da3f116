-- Samples that are not measured yet, and that of slot $1, the oldest first.
SELECT slot, markets, prices, measured_at IS NOT NULL AS measured
FROM baselines
WHERE measured_at IS NULL OR slot = $1
ORDER BY slot
LIMIT 100
