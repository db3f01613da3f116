SELECT e.seq, e.type, e.at, shown_data(e.type, e.data)
FROM protocol_events e
WHERE e.user_id = (SELECT id FROM users WHERE handle = $1) AND e.type = ANY ($2::text[]) AND e.seq > $3 AND e.seq <= $4
ORDER BY e.seq LIMIT $5
