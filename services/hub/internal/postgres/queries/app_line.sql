-- Registrations of one owner stand in line until the end of the transaction, so
-- that the count of the owner's apps is exact.
SELECT pg_advisory_xact_lock(hashtextextended('apps of ' || $1::text, 0))
