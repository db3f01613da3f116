-- name: InsertAirings :execrows
-- Stores airings that are not yet stored. A price of -1 means unknown.
INSERT INTO airings (segment_id, channel, lane, slot, market_id, title, started_at, ended_at, yes_bps_start)
SELECT segment_id, channel, lane, slot, market_id, title, started_at, ended_at, nullif(yes_bps, -1)
FROM unnest(
    @segment_ids::text[], @channels::text[], @lanes::text[], @slots::bigint[], @market_ids::text[], @titles::text[],
    @started_at::timestamptz[], @ended_at::timestamptz[], @yes_bps::integer[]
) AS a (segment_id, channel, lane, slot, market_id, title, started_at, ended_at, yes_bps)
ORDER BY segment_id
ON CONFLICT (segment_id) DO NOTHING;

-- name: ListUnmeasuredAirings :many
-- Returns airings that are not yet measured, the oldest first.
SELECT segment_id, market_id, started_at, ended_at, yes_bps_start, viewers_peak
FROM airings
WHERE measured_at IS NULL
ORDER BY ended_at, segment_id
LIMIT @max_rows;

-- name: RaiseViewers :exec
-- Stores the number of viewers of each segment if it is higher than the stored number.
UPDATE airings a SET viewers_peak = p.viewers
FROM unnest(@segment_ids::text[], @viewers::integer[]) AS p (segment_id, viewers)
WHERE a.segment_id = p.segment_id AND a.measured_at IS NULL AND a.viewers_peak < p.viewers;

-- name: MeasureAirings :exec
-- Stores the price after each airing and the number of calls during it; -1 means unknown. Does not change measured airings.
UPDATE airings a
SET yes_bps_after = nullif(m.yes_bps, -1), signals_during = nullif(m.signals, -1), measured_at = @now::timestamptz
FROM unnest(@segment_ids::text[], @yes_bps::integer[], @signals::bigint[]) AS m (segment_id, yes_bps, signals)
WHERE a.segment_id = m.segment_id AND a.measured_at IS NULL;

-- name: ListMoves :many
-- Returns airings since a time whose price change is known, the largest change first. If a market aired on several channels in the
-- same slot, it is counted once, with the airing of the default channel if there is one.
WITH moves AS (
    SELECT DISTINCT ON (market_id, slot) segment_id, market_id, coalesce(title, market_id) AS title, lane, started_at, ended_at,
        yes_bps_start, yes_bps_after, signals_during, viewers_peak, measured_at
    FROM airings
    WHERE started_at > @since AND yes_bps_start IS NOT NULL AND yes_bps_after IS NOT NULL
    ORDER BY market_id, slot, channel <> 'default', segment_id
)
SELECT segment_id, market_id, title, lane, started_at, ended_at, yes_bps_start, yes_bps_after, signals_during, viewers_peak,
    measured_at, count(*) OVER () AS airings, avg(abs(yes_bps_after - yes_bps_start)) OVER ()::float8 AS mean_move
FROM moves
ORDER BY abs(yes_bps_after - yes_bps_start) DESC, started_at DESC, segment_id
LIMIT @max_rows;

-- name: DeleteOldAirings :exec
-- Deletes airings that started before a time and that are at least eight days old according to the clock of the database.
DELETE FROM airings WHERE started_at < @before AND started_at + interval '8 days' <= clock_timestamp();

-- name: InsertBaseline :exec
-- Stores the sample of a slot unless the slot already has one.
INSERT INTO baselines (slot, started_at, markets, prices) VALUES (@slot, @started_at, @markets, @prices)
ON CONFLICT (slot) DO NOTHING;

-- name: ListUnmeasuredBaselines :many
-- Returns the samples that are not yet measured, and the sample of one slot even if it is measured, the oldest first.
SELECT slot, markets, prices, (measured_at IS NOT NULL)::boolean AS measured
FROM baselines
WHERE measured_at IS NULL OR slot = @slot
ORDER BY slot
LIMIT 100;

-- name: MeasureBaseline :exec
-- Stores the result of a sample. Does not change a measured sample.
UPDATE baselines SET measured_at = @now::timestamptz, measured = @markets::integer, moved_bps = @moved_bps::bigint
WHERE slot = @slot AND measured_at IS NULL;

-- name: GetBaselineMove :one
-- Returns the number of measured markets in the samples since a time, and the sum of their absolute price changes.
SELECT coalesce(sum(measured), 0)::bigint AS markets, coalesce(sum(moved_bps), 0)::bigint AS moved_bps
FROM baselines WHERE started_at > @since AND measured_at IS NOT NULL;

-- name: DeleteOldBaselines :exec
-- Deletes samples that started before a time and that are at least eight days old according to the clock of the database.
DELETE FROM baselines WHERE started_at < @before AND started_at + interval '8 days' <= clock_timestamp();
