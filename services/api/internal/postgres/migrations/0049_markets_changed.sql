-- Only the copy of the markets that each process had was read by the time of a change.
DROP INDEX markets_changed;
