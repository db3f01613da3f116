-- A market that no venue has confirmed; a call on it is not lost.
INSERT INTO markets (market_id, provider, title, status, created_at, updated_at)
VALUES ($1, $2, $1, 'unknown', $3, $3)
ON CONFLICT (market_id) DO NOTHING
