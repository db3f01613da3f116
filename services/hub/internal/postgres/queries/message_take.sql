INSERT INTO messages (id, type, denpa_id, app_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at)
VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, false, 'pending', $8, $9, $9)
ON CONFLICT DO NOTHING
