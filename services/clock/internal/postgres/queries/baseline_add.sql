INSERT INTO baselines (slot, started_at, markets, prices) VALUES ($1, $2, $3, $4)
ON CONFLICT (slot) DO NOTHING
