SELECT e.seq, e.type, e.at, e.signal_id, e.data
FROM shown_events e
WHERE e.market_id = $1 AND e.type = ANY ($2::text[]) AND e.seq > $3 AND e.seq <= $4
ORDER BY e.seq LIMIT $5
