-- Open markets of provider $1 whose price is followed live: with open calls,
-- looked at ($3), or next in a programme lane as in market_hot. $2 now, $4 at
-- most, those with calls first.
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
), wanted AS (
    SELECT t.market_id, 1 AS rank FROM market_totals t
    UNION ALL
    SELECT unnest($3::text[]), 2
    UNION ALL
    SELECT n.market_id, 3 FROM lanes l CROSS JOIN LATERAL (
        SELECT m.market_id
        FROM markets m JOIN market_quotes q ON q.market_id = m.market_id
        WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other') AND m.volume_unit = 'usd'
            AND m.category = l.category AND m.end_date > $2::timestamptz + interval '10 minutes'
            AND q.yes_bps IS NOT NULL AND q.volume_usd >= 1000
        ORDER BY m.end_date, m.market_id LIMIT 24) n
)
SELECT m.market_id, m.clob_token_id, m.yes_index
FROM (SELECT market_id, min(rank) AS rank FROM wanted GROUP BY market_id) w
JOIN markets m ON m.market_id = w.market_id
WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND m.clob_token_id <> ''
ORDER BY w.rank, m.end_date, m.market_id
LIMIT $4
