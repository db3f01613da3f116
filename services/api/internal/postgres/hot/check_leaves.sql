-- Returns every leaf with its hash, and the hash of the row from which it was made as that row is now (null if the row
-- is deleted). There may be millions of leaves, so Go reads the rows one by one, which sqlc does not support.
-- Plan: hash join of journal_leaves and the rows of the view journal_rows, then one sort by n; no nested loop.
SELECT l.n, l.kind, l.of, l.hash, CASE WHEN r.key IS NOT NULL THEN sha256('\x00'::bytea || convert_to(r.body, 'UTF8')) END
FROM journal_leaves AS l
LEFT JOIN (SELECT x.kind, coalesce(x.uid::text, x.mid) AS key, x.body FROM journal_rows AS x) AS r ON r.kind = l.kind
    AND r.key = l.of
ORDER BY l.n;
