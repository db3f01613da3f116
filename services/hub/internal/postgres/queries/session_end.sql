UPDATE sessions SET ended_at = $3 WHERE user_id = $1 AND issued_at = $2 AND ended_at IS NULL
