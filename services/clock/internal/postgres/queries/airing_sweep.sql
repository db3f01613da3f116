DELETE FROM airings WHERE started_at < $1 AND started_at + interval '8 days' <= clock_timestamp()
