-- Movers of operator scores stand in line, so that two claims with the same
-- operators cannot wait for each other's rows.
SELECT pg_advisory_xact_lock(7201001)
