-- Airings whose price after their end is waited for, the oldest first. $1 at most.
SELECT segment_id, market_id, started_at, ended_at, yes_bps_start, viewers_peak
FROM airings
WHERE measured_at IS NULL
ORDER BY ended_at, segment_id
LIMIT $1
