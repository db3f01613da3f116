-- Raises the most viewers that were seen. $1 segments, $2 viewers.
UPDATE airings a SET viewers_peak = p.viewers
FROM unnest($1::text[], $2::integer[]) AS p (segment_id, viewers)
WHERE a.segment_id = p.segment_id AND a.measured_at IS NULL AND a.viewers_peak < p.viewers
