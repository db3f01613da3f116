UPDATE messages SET status = 'accepted', accepted_at = $2, result = $3 WHERE id = $1 AND status = 'pending'
