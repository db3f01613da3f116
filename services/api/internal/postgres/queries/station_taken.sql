-- How many stations $1 has, and how many ids beside $2 they ever took.
SELECT count(*) FILTER (WHERE deleted_at IS NULL), count(*) FILTER (WHERE station_id <> $2)
FROM stations
WHERE user_id = $1
