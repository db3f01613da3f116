UPDATE clips SET status = 'failed', reason = $2, lease_until = NULL WHERE id = $1 AND status = 'processing'
