-- A message whose row was dropped while its effect was under way comes back.
INSERT INTO messages (id, type, denpa_id, app_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at, accepted_at, result)
VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $7, false, 'accepted', $8, $9, $10, $10, $11)
ON CONFLICT DO NOTHING
