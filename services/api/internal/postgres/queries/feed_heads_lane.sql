-- The last number up to $2 in each of the lanes $1, of the types $3.
SELECT k.key, max(h.seq)
FROM unnest($1::text[]) AS k (key)
CROSS JOIN unnest($3::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events e
    WHERE e.type = t.type AND e.lane = k.key AND e.seq <= $2
    ORDER BY e.seq DESC LIMIT 1
) h
GROUP BY k.key
