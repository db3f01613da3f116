-- Open markets at $2 with a price and three calls or more of the crowd, the widest
-- gap between the two first; of $1 alone unless that is empty, at most $3. The
-- price of a native market is made of its crowd as NativePrice makes it.
WITH priced AS (
    SELECT t.market_id, t.crowd_yes AS yes, t.crowd_no AS no, t.crowd_yes + t.crowd_no AS n,
        CASE WHEN m.provider = 'manual' THEN least(greatest(
                (2 * (8 * m.initial_yes_bps + 10000 * t.crowd_yes) + 8 + t.crowd_yes + t.crowd_no)
                / (2 * (8 + t.crowd_yes + t.crowd_no)), 100), 9900)
             WHEN q.at >= $2::timestamptz - interval '10 minutes' THEN q.yes_bps END AS price
    FROM market_totals t
    JOIN markets m ON m.market_id = t.market_id
    LEFT JOIN market_quotes q ON q.market_id = t.market_id
    WHERE t.crowd_yes + t.crowd_no >= 3 AND m.status = 'open' AND (m.end_date IS NULL OR m.end_date > $2)
        AND ($1::text = '' OR t.market_id = $1)
)
SELECT market_id, yes, no FROM priced
WHERE price IS NOT NULL
ORDER BY abs((200 * yes + n) / (2 * n) * 100 - price) DESC, market_id
LIMIT $3
