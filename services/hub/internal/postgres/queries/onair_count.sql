SELECT count(*) FROM live_sessions WHERE handle = $1
