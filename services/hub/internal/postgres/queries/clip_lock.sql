-- Clips of one maker, and of one stream, are taken one after the other. $1: by:<handle> or of:<handle>.
SELECT pg_advisory_xact_lock(7203, hashtext($1))
