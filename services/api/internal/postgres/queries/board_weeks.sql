-- The calls of each week from $1, a Monday, up to $2, by tier, and how many independent
-- operators filed them. Weeks without a call are left out.
SELECT f.week, coalesce(sum(f.n) FILTER (WHERE u.tier = 'independent'), 0)::bigint, coalesce(sum(f.n) FILTER (WHERE u.tier = 'house'), 0)::bigint,
    coalesce(sum(f.n) FILTER (WHERE u.tier = 'automated'), 0)::bigint, count(*) FILTER (WHERE u.tier = 'independent')
FROM (
    SELECT user_id, floor(extract(epoch FROM created_at - $1::timestamptz) / 604800)::integer AS week, count(*) AS n
    FROM signals WHERE created_at >= $1 AND created_at < $2
    GROUP BY 1, 2
) f
JOIN users u ON u.id = f.user_id
GROUP BY f.week ORDER BY f.week
