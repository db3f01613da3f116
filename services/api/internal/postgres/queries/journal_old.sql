-- Up to $1 rows that nobody has sealed, whenever they were written.
SELECT 0::bigint, r.kind, coalesce(r.uid::text, r.mid), sha256('\x00'::bytea || convert_to(r.body, 'UTF8'))
FROM (JOURNAL_ROWS) r
WHERE NOT EXISTS (SELECT FROM journal_leaves l WHERE l.kind = r.kind AND l.of = coalesce(r.uid::text, r.mid))
LIMIT $1
