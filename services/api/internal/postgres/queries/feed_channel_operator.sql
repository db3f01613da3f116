SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events e
WHERE e.user_id = (SELECT id FROM users WHERE handle = $1) AND e.type = ANY ($2::text[]) AND e.seq > $3 AND e.seq <= $4
ORDER BY e.seq LIMIT $5
