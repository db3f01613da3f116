-- Signals of independent operators. $1 end of the window, $2 begin of the last
-- complete week.
SELECT
    count(*) FILTER (WHERE s.created_at >= $1::timestamptz - interval '168 hours' AND s.created_at < $1),
    count(*) FILTER (WHERE s.created_at >= $1::timestamptz - interval '336 hours' AND s.created_at < $1::timestamptz - interval '168 hours'),
    count(*) FILTER (WHERE s.created_at >= $2 AND s.created_at < $2::timestamptz + interval '168 hours'),
    count(DISTINCT s.user_id) FILTER (WHERE s.created_at >= $2 AND s.created_at < $2::timestamptz + interval '168 hours')
FROM signals s
JOIN users u ON u.id = s.user_id AND u.tier = 'independent'
WHERE s.created_at >= least($1::timestamptz - interval '336 hours', $2) AND s.created_at < $1
