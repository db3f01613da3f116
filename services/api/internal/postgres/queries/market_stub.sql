-- A market that no venue answered for yet; a call on it is not lost.
INSERT INTO markets (market_id, provider, title, status, created_at, updated_at)
VALUES ($1, $2, $3, 'unknown', $4, $4)
ON CONFLICT (market_id) DO NOTHING
