-- Pins a market, or words the pin anew that it has.
-- $1 market, $2 label, $3 tagline, $4 position, $5 now.
INSERT INTO pins (market_id, label, tagline, position, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (market_id) DO UPDATE SET label = excluded.label, tagline = excluded.tagline, position = excluded.position
RETURNING created_at
