-- How many markets that did not air were looked at in slots that began after $1, and how
-- far all of them moved.
SELECT coalesce(sum(measured), 0)::bigint, coalesce(sum(moved_bps), 0)::bigint
FROM baselines WHERE started_at > $1 AND measured_at IS NOT NULL
