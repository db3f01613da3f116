-- Markets of provider $1 to be priced each minute and not priced since $3: open
-- calls, or next in a programme lane (by end date, as the clock takes them). $2
-- now, $5 at most; behind them at most $6 with open calls that never had an
-- answer, which keep places of their own. One that was asked for since $4 in vain
-- waits: in vain is a minute after its last answer, because another reader may
-- have noted that he asks and not be there yet.
WITH lined AS (
    SELECT m.market_id, row_number() OVER (PARTITION BY m.category ORDER BY m.end_date, m.market_id) AS place
    FROM markets m JOIN market_quotes q ON q.market_id = m.market_id
    WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
        AND m.end_date > $2::timestamptz + interval '10 minutes' AND q.yes_bps IS NOT NULL AND q.volume_usd >= 1000
), hot AS (
    SELECT market_id FROM lined WHERE place <= 24
    UNION
    SELECT m.market_id FROM markets m
    WHERE m.provider = $1 AND m.status IN ('open', 'unknown')
        AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = m.market_id)
), due AS (
    SELECT h.market_id, q.at AS priced, c.at AS asked,
        row_number() OVER (PARTITION BY q.at IS NULL ORDER BY coalesce(q.at, c.at) NULLS FIRST, h.market_id) AS place
    FROM hot h
    LEFT JOIN market_quotes q ON q.market_id = h.market_id
    LEFT JOIN market_checks c ON c.market_id = h.market_id
    WHERE coalesce(q.at < $3, true)
        AND (c.at IS NULL OR c.at < $4 OR coalesce(c.at < q.at + interval '1 minute', false))
)
SELECT market_id FROM due
WHERE place <= CASE WHEN priced IS NULL THEN $6::integer ELSE $5::integer END
ORDER BY priced IS NULL, place
