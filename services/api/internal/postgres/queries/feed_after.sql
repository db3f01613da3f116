-- The numbers have no gaps, so the range is the limit.
SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, u.handle, u.public_id, e.topic, e.signal_id, e.data
FROM shown_events e LEFT JOIN users u ON u.id = e.user_id
WHERE e.seq > $1 AND e.seq <= $1 + $2::bigint
ORDER BY e.seq
