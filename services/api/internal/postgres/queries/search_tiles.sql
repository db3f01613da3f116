-- What a heatmap shows of provider $1 at $2: each event with the open markets
-- that can be called on, or each such market that ends within a day where $3. The
-- busiest market stands for its event; calls and takes are those of that market
-- in the last day, the price before is the newest one of the day before that.
WITH open AS (
    SELECT m.market_id, CASE WHEN $3::boolean OR m.event_key = '' THEN m.market_id ELSE m.event_key END AS place,
        m.event_key, m.event_title, m.slug, m.title, m.lane, m.image_url, m.end_date, q.yes_bps, q.at, q.volume24h
    FROM markets m JOIN market_quotes q ON q.market_id = m.market_id
    WHERE m.provider = $1 AND m.status = 'open' AND NOT m.provisional AND NOT m.disputed
        AND CASE WHEN $3 THEN m.end_date > $2 AND m.end_date <= $2::timestamptz + interval '24 hours'
                 ELSE m.end_date IS NULL OR m.end_date > $2 END
), tiles AS (
    SELECT DISTINCT ON (place) open.*, count(*) OVER whole AS markets, coalesce(sum(volume24h) OVER whole, 0) AS total
    FROM open
    WINDOW whole AS (PARTITION BY place)
    ORDER BY place, volume24h DESC NULLS LAST, market_id
), calls AS (
    SELECT market_id, count(*) AS n FROM signals WHERE created_at > $2::timestamptz - interval '24 hours' GROUP BY market_id
), taken AS (
    SELECT s.market_id, count(*) AS n
    FROM signal_events e JOIN signals s ON s.id = e.signal_id
    WHERE e.type = 'take' AND e.created_at > $2::timestamptz - interval '24 hours'
    GROUP BY s.market_id
)
SELECT t.market_id, t.event_key, t.event_title, t.slug, t.title, t.lane, t.image_url, t.end_date,
    t.yes_bps, t.at, coalesce(t.volume24h, 0), t.markets, t.total, coalesce(c.n, 0), coalesce(k.n, 0),
    (SELECT p.yes_bps FROM market_prices p
     WHERE p.market_id = t.market_id AND p.at <= $2::timestamptz - interval '24 hours' AND p.at > $2::timestamptz - interval '48 hours'
     ORDER BY p.at DESC LIMIT 1)
FROM tiles t
LEFT JOIN calls c ON c.market_id = t.market_id
LEFT JOIN taken k ON k.market_id = t.market_id
