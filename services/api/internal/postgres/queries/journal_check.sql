-- Every leaf beside the row that it was made of, as that row is now.
SELECT l.n, l.kind, l.of, l.hash, CASE WHEN r.key IS NOT NULL THEN sha256('\x00'::bytea || convert_to(r.body, 'UTF8')) END
FROM journal_leaves l
LEFT JOIN (SELECT kind, coalesce(uid::text, mid) AS key, body FROM (JOURNAL_ROWS) x) r ON r.kind = l.kind AND r.key = l.of
ORDER BY l.n
