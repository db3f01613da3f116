-- One registration of a passport and app at a time, so that the count holds.
SELECT pg_advisory_xact_lock(hashtextextended('signers of ' || $1::text || ' ' || $2::text, 0))
