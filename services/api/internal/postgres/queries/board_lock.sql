-- One fold at a time; a change of an operator's tier holds it off as well.
SELECT pg_try_advisory_xact_lock(7201002)
