-- Notes what a message did. $1 message, $2 session, $3 now, $4 broadcast.
WITH noted AS (
    INSERT INTO go_lives (message_id, session_id, at) VALUES ($1, $2, $3)
)
UPDATE broadcasts SET state = 'live' WHERE id = $4
