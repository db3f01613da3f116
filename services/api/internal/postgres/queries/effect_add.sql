INSERT INTO message_effects (message_id, type, user_id, subject, at) VALUES ($1, $2, $3, $4, $5)
