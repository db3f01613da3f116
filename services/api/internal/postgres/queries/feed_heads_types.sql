-- The last number up to $1 of any of the types $2.
SELECT max(h.seq)
FROM unnest($2::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events e WHERE e.type = t.type AND e.seq <= $1 ORDER BY e.seq DESC LIMIT 1
) h
