-- Sessions that are too old to be accepted.
DELETE FROM sessions WHERE issued_at < $1
