-- What is done about one operator is done in turn. $1 handle.
SELECT pg_advisory_xact_lock(hashtextextended('onair:' || $1::text, 0))
