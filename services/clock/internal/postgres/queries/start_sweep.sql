-- Forgets what began before a slot: nothing of then is told any more.
DELETE FROM program_starts WHERE slot < $1
