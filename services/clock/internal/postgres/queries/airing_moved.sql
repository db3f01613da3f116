-- Airings that began after $1 and whose move is known, the largest move first, at most $2. A
-- market that aired in one slot on several channels moved once: that of the default
-- channel stands for all.
WITH one AS (
    SELECT DISTINCT ON (market_id, slot) segment_id, market_id, coalesce(title, market_id) AS title, lane, started_at, ended_at,
        yes_bps_start, yes_bps_after, signals_during, viewers_peak, measured_at
    FROM airings
    WHERE started_at > $1 AND yes_bps_start IS NOT NULL AND yes_bps_after IS NOT NULL
    ORDER BY market_id, slot, channel <> 'default', segment_id
)
SELECT segment_id, market_id, title, lane, started_at, ended_at, yes_bps_start, yes_bps_after, signals_during, viewers_peak, measured_at,
    count(*) OVER () AS airings, avg(abs(yes_bps_after - yes_bps_start)) OVER ()::float8 AS mean_move
FROM one
ORDER BY abs(yes_bps_after - yes_bps_start) DESC, started_at DESC, segment_id
LIMIT $2
