-- Notes how many watch whom: $1 handles, $2 viewers, $3 times. Older news than what is
-- there changes nothing.
UPDATE market_live l SET viewers = g.viewers, viewers_at = g.at
FROM (
    SELECT DISTINCT ON (g.handle) g.handle, g.viewers, g.at
    FROM unnest($1::text[], $2::integer[], $3::timestamptz[]) AS g (handle, viewers, at)
    ORDER BY g.handle, g.at DESC
) g
WHERE l.handle = g.handle AND l.bound AND (l.viewers_at IS NULL OR l.viewers_at <= g.at)
