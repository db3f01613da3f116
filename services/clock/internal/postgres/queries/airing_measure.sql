-- Writes what became of airings; what was measured before stands. $1 segments, $2 prices
-- after, $3 signals during, $4 now.
UPDATE airings a SET yes_bps_after = m.yes_bps, signals_during = m.signals, measured_at = $4
FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS m (segment_id, yes_bps, signals)
WHERE a.segment_id = m.segment_id AND a.measured_at IS NULL
