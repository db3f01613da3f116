-- Notes the price tolerance $1 as of $2, where it differs from the last one. The first
-- row begins at the epoch.
INSERT INTO price_tolerances (since, bps)
SELECT CASE WHEN l.since IS NULL THEN 'epoch' ELSE greatest($2::timestamptz, l.since + interval '1 millisecond') END, $1::integer
FROM (SELECT 1) one
LEFT JOIN (SELECT since, bps FROM price_tolerances ORDER BY since DESC LIMIT 1) l ON true
WHERE l.bps IS DISTINCT FROM $1::integer
