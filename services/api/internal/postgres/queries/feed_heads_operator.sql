-- The last number up to $2 on each channel of the operators $1, of the types $3.
SELECT k.key, h.seq
FROM unnest($1::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT e.seq FROM protocol_events e
    WHERE e.user_id = (SELECT id FROM users WHERE handle = k.key) AND e.type = ANY ($3::text[]) AND e.seq <= $2
    ORDER BY e.seq DESC LIMIT 1
) h
