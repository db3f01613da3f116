-- The numbers of a window. Results are found over the claims: they are made within
-- moments of theirs, and their own time is the claim's. $1 from, $2 to.
SELECT
    (SELECT count(*) FROM signals WHERE created_at >= $1 AND created_at < $2),
    r.won, r.lost, r.void,
    (SELECT count(*) FROM users WHERE created_at >= $1 AND created_at < $2)
FROM (
    SELECT count(*) FILTER (WHERE r.status = 'won') AS won, count(*) FILTER (WHERE r.status = 'lost') AS lost,
        count(*) FILTER (WHERE r.status = 'void') AS void
    FROM market_resolutions m
    JOIN signals s ON s.market_id = m.market_id
    JOIN signal_results r ON r.signal_id = s.id
    WHERE m.resolved_at >= $1 AND m.resolved_at < $2
) r
