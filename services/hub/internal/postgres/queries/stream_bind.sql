-- Binds a stream in the place of the one before.
-- $1 market, $2 handle, $3 url, $4 label, $5 now.
INSERT INTO streams (market_id, handle, url, label, updated_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (market_id, handle) DO UPDATE SET url = excluded.url, label = excluded.label, updated_at = excluded.updated_at
