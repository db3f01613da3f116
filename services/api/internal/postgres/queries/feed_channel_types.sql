-- Events of the types $2, in the lane $1 or with '' in any.
SELECT e.seq, e.type, e.at, e.data
FROM unnest($2::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq, e.type, e.at, e.data FROM protocol_events e
    WHERE e.type = t.type AND ($1 = '' OR e.lane = $1) AND e.seq > $3 AND e.seq <= $4
    ORDER BY e.seq LIMIT $5
) e
ORDER BY e.seq LIMIT $5
