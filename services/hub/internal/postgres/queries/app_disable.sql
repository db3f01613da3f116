UPDATE apps SET disabled_at = $2, old_secret_hash = NULL, old_secret_until = NULL WHERE id = $1
