INSERT INTO clips (id, handle, market_id, show_id, title, stance, status, created_by, created_at)
VALUES ($1, $2, $3, nullif($4, ''), nullif($5, ''), $6, 'processing', $7, $8)
