-- Appends to one signal stand in line, so that the count of its events is exact.
SELECT pg_advisory_xact_lock(hashtextextended($1::text, 7))
