-- Reports of one operator are stored one after the other, so that their count is exact.
SELECT pg_advisory_xact_lock(hashtextextended('reports of ' || $1::text, 0))
