DELETE FROM messages WHERE id = $1 AND attempt = $2 AND status = 'pending'
