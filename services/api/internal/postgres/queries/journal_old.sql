-- $3 rows of the kind $1 (signals, results, events) behind the key $2 (null: from the
-- first on), with the hash of those that nobody has sealed.
SELECT NULL::bigint, r.kind, r.uid::text, CASE WHEN l.sealed IS NULL THEN sha256('\x00'::bytea || convert_to(r.body, 'UTF8')) END
FROM (
    SELECT * FROM (JOURNAL_ROWS) x
    WHERE x.kind = $1::smallint AND x.kind < 4 AND ($2::text IS NULL OR x.uid > $2::text::uuid)
    ORDER BY x.uid LIMIT $3
) r
LEFT JOIN LATERAL (SELECT true AS sealed FROM journal_leaves WHERE kind = r.kind AND of = r.uid::text LIMIT 1) l ON true
ORDER BY r.uid
