INSERT INTO messages (id, type, denpa_id, app_id, public_key, nonce, body, attested, subject, status, attempt, received_at, tried_at, accepted_at, result)
VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, true, nullif($8, ''), 'accepted', $9, $10, $10, $10, $11)
ON CONFLICT DO NOTHING
