-- Whose message it is, one message at a time.
SELECT tier FROM users WHERE id = $1 FOR NO KEY UPDATE
