-- Stores a report unless its reporter has $8 of them since $7. $1 id, $2 reporter, $3 kind,
-- $4 thing, $5 reason, $6 now.
INSERT INTO reports (id, reporter, kind, thing, reason, at)
SELECT $1, $2, $3, $4, $5, $6
WHERE (SELECT count(*) FROM reports WHERE reporter = $2 AND at > $7) < $8::bigint
