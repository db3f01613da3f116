INSERT INTO operator_keys (id, user_id, hash, prefix, last4, label, tier, permissions, created_at, strict)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
