-- Operators whose session has no heartbeat any more. $1 the newest that is too old, $2 limit.
SELECT handle FROM live_sessions WHERE ended_at IS NULL AND last_beat <= $1 ORDER BY last_beat LIMIT $2
