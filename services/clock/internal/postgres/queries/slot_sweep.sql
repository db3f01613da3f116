-- Forgets slots before $1 that ended a day ago, by the database's own clock.
DELETE FROM program_slots WHERE slot < $1 AND (slot + 1) * 610 + 86400 <= extract(epoch FROM clock_timestamp())
