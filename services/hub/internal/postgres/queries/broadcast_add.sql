-- $1 id, $2 owner, $3 title, $4 market, $5 station, $6 lane, $7 scheduled for, $8 now.
INSERT INTO broadcasts (id, owner, title, market_id, station_id, lane, scheduled_for, state, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'scheduled', $8)
ON CONFLICT (id) DO NOTHING
