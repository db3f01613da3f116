-- $2 resolutions behind the market $1 (null: from the first on), with the hash of those
-- that nobody has sealed.
SELECT NULL::bigint, r.kind, r.mid, CASE WHEN l.sealed IS NULL THEN sha256('\x00'::bytea || convert_to(r.body, 'UTF8')) END
FROM (
    SELECT * FROM (JOURNAL_ROWS) x
    WHERE x.kind = 4 AND ($1::text IS NULL OR x.mid > $1::text)
    ORDER BY x.mid LIMIT $2
) r
LEFT JOIN LATERAL (SELECT true AS sealed FROM journal_leaves WHERE kind = r.kind AND of = r.mid LIMIT 1) l ON true
ORDER BY r.mid
