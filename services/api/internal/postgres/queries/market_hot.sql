-- Markets of provider $1 to be priced each minute and not priced since $3: open
-- calls, or next in a programme lane (by end date, as the clock takes them). $2
-- now, $5 at most; behind them at most $6 with open calls that never had an
-- answer, which keep places of their own. One that was asked for since $4 in vain
-- waits: in vain is a minute after its last answer, because another reader may
-- have noted that he asks and not be there yet. The lanes are walked one by one
-- along the index markets_lined; only amounts in usd can be compared.
WITH RECURSIVE lanes AS (
    (SELECT m.category FROM markets m
     WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other') AND m.volume_unit = 'usd'
     ORDER BY m.category LIMIT 1)
    UNION ALL
    SELECT (SELECT m.category FROM markets m
        WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other') AND m.volume_unit = 'usd'
            AND m.category > l.category
        ORDER BY m.category LIMIT 1)
    FROM lanes l WHERE l.category IS NOT NULL
), hot AS (
    SELECT n.market_id FROM lanes l CROSS JOIN LATERAL (
        SELECT m.market_id
        FROM markets m JOIN market_quotes q ON q.market_id = m.market_id
        WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other') AND m.volume_unit = 'usd'
            AND m.category = l.category AND m.end_date > $2::timestamptz + interval '10 minutes'
            AND q.yes_bps IS NOT NULL AND q.volume_usd >= 1000
        ORDER BY m.end_date, m.market_id LIMIT 24) n
    UNION
    SELECT m.market_id FROM market_totals t JOIN markets m ON m.market_id = t.market_id
    WHERE m.provider = $1 AND m.status IN ('open', 'unknown')
), due AS (
    SELECT h.market_id, q.at AS priced, c.at AS asked,
        row_number() OVER (PARTITION BY q.at IS NULL ORDER BY coalesce(q.at, c.at) NULLS FIRST, h.market_id) AS place
    FROM hot h
    LEFT JOIN (SELECT market_id, coalesce(answered_at, at) AS at FROM market_quotes) q ON q.market_id = h.market_id
    LEFT JOIN market_checks c ON c.market_id = h.market_id
    WHERE coalesce(q.at < $3, true)
        AND (c.at IS NULL OR c.at < $4 OR coalesce(c.at < q.at + interval '1 minute', false))
)
SELECT market_id FROM due
WHERE place <= CASE WHEN priced IS NULL THEN $6::integer ELSE $5::integer END
ORDER BY priced IS NULL, place
