-- Snapshots of $1 since $2, oldest first. More than $3 are thinned to the last
-- one of each of $3 equal stretches of time.
WITH span AS (
    SELECT count(*) AS n, extract(epoch FROM min(at)) AS low, extract(epoch FROM max(at)) AS high
    FROM market_prices WHERE market_id = $1 AND at >= $2
), placed AS (
    SELECT p.at, p.yes_bps,
        CASE WHEN span.n <= $3::integer THEN row_number() OVER (ORDER BY p.at)
             ELSE width_bucket(extract(epoch FROM p.at), span.low, span.high + 0.001, $3::integer) END AS bucket
    FROM market_prices p CROSS JOIN span
    WHERE p.market_id = $1 AND p.at >= $2
)
SELECT DISTINCT ON (bucket) at, yes_bps FROM placed ORDER BY bucket, at DESC
