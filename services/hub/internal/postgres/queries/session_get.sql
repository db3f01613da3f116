SELECT signed_in_at, bind_hash, ended_at FROM sessions WHERE user_id = $1 AND issued_at = $2
