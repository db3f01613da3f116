SELECT e.seq, e.type, e.at, shown_data(e.type, e.data)
FROM protocol_events e
WHERE e.topic = $1 AND e.seq > $2 AND e.seq <= $3
ORDER BY e.seq LIMIT $4
