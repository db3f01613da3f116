INSERT INTO webhooks (id, user_id, url, channels, types, description, created_at, taken, secret, key_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
