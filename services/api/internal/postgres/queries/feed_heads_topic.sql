-- The last number up to $2 on each of the programme channels $1.
SELECT k.key, h.seq
FROM unnest($1::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events e
    WHERE e.topic = k.key AND e.seq <= $2
    ORDER BY e.seq DESC LIMIT 1
) h
