SELECT id FROM users WHERE handle = $1
