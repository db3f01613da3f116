-- A reservation that nobody ended within ten minutes is void. $1 date, $2 now.
INSERT INTO digest_sent AS d (date, taken_at) VALUES ($1::text::date, $2)
ON CONFLICT (date) DO UPDATE SET taken_at = excluded.taken_at
WHERE d.sent_at IS NULL AND d.taken_at <= excluded.taken_at - interval '10 minutes'
