-- What stands against another clip: $1 maker, $2 stream, $3 the beginning of the day.
-- Counts of the day, and the newest, of each.
SELECT
    (SELECT count(*) FROM clips WHERE created_by = $1 AND created_at >= $3::timestamptz),
    (SELECT count(*) FROM clips WHERE handle = $2 AND created_at >= $3::timestamptz),
    greatest(
        (SELECT max(created_at) FROM clips WHERE created_by = $1),
        (SELECT max(created_at) FROM clips WHERE handle = $2)
    )
