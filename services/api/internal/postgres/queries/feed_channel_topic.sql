SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events e
WHERE e.topic = $1 AND e.seq > $2 AND e.seq <= $3
ORDER BY e.seq LIMIT $4
