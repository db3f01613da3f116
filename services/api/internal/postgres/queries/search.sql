-- name: ListSearchable :many
-- Returns what is searched of all markets. Descriptions are not searched.
SELECT m.market_id, m.provider, m.title, m.slug, m.status, m.lane, m.event_key, m.end_date, q.volume_usd, q.volume24h
FROM markets AS m
LEFT JOIN market_quotes AS q ON q.market_id = m.market_id;

-- name: ListSearchableSince :many
-- Is ListSearchable for the markets whose row or quote changed since a time. The upper bounds tell the planner that these are
-- few; a plan made without the value would read every row.
SELECT m.market_id, m.provider, m.title, m.slug, m.status, m.lane, m.event_key, m.end_date, q.volume_usd, q.volume24h
FROM (
    SELECT c.market_id FROM markets AS c WHERE c.updated_at >= @since::timestamptz AND c.updated_at < 'infinity'
    UNION SELECT d.market_id FROM market_quotes AS d WHERE d.at >= @since::timestamptz AND d.at < 'infinity'
) AS changed
JOIN markets AS m ON m.market_id = changed.market_id
LEFT JOIN market_quotes AS q ON q.market_id = m.market_id;

-- name: ListResolvedMarkets :many
-- Returns the markets of a provider with an outcome before a place, the newest first.
SELECT r.market_id, m.title, r.outcome, r.resolved_at, r.close_price, q.volume_usd, coalesce(t.yes + t.no, 0)::bigint AS signals
FROM market_resolutions AS r
JOIN markets AS m ON m.market_id = r.market_id
LEFT JOIN market_quotes AS q ON q.market_id = r.market_id
LEFT JOIN market_totals AS t ON t.market_id = r.market_id
WHERE m.provider = @provider AND (r.resolved_at, r.market_id) < (@before_at::timestamptz, @before_id::text)
ORDER BY r.resolved_at DESC, r.market_id DESC
LIMIT sqlc.arg('limit');

-- name: GetSentiment :one
-- Returns how the calls on a market lean, of operators that count as crowd.
WITH calls AS (
    SELECT s.id, s.yes, s.confidence, s.created_at
    FROM signals AS s JOIN users AS u ON u.id = s.user_id AND u.crowd
    WHERE s.market_id = @market_id::text
), taken AS (
    SELECT c.yes FROM calls AS c JOIN signal_events AS e ON e.signal_id = c.id WHERE e.type = 'take'
)
SELECT count(*) FILTER (WHERE c.yes) AS yes, count(*) FILTER (WHERE NOT c.yes) AS no,
    (coalesce(sum(coalesce(c.confidence, 50)) FILTER (WHERE c.yes), 0) / 100.0::double precision)::double precision AS weight_yes,
    (coalesce(sum(coalesce(c.confidence, 50)) FILTER (WHERE NOT c.yes),
        0) / 100.0::double precision)::double precision AS weight_no,
    (avg(c.confidence) FILTER (WHERE c.yes))::float8 AS confidence_yes,
        (avg(c.confidence) FILTER (WHERE NOT c.yes))::float8 AS confidence_no,
    (SELECT count(*) FROM taken AS t WHERE t.yes) AS takes_yes, (SELECT count(*) FROM taken AS t WHERE NOT t.yes) AS takes_no,
    count(*) FILTER (WHERE c.created_at > sqlc.arg(now)::timestamptz - interval '24 hours') AS signals24h,
    coalesce( -- as ListOpenFacts has it
        (SELECT p.yes_bps FROM market_prices AS p WHERE p.market_id = @market_id::text
            AND p.at <= sqlc.arg(now)::timestamptz - interval '24 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices AS p WHERE p.market_id = @market_id::text
            AND p.at > sqlc.arg(now)::timestamptz - interval '24 hours'
                AND p.at <= sqlc.arg(now)::timestamptz - interval '12 hours'
            ORDER BY p.at LIMIT 1))::int4 AS before
FROM calls AS c;

-- name: ListGaps :many
-- Returns open markets with a price and at least three calls of the crowd, the widest gap between the two first; an empty id
-- selects every market. The price of a native market is made of its crowd as NativePrice makes it.
WITH priced AS (
    SELECT t.market_id, t.crowd_yes AS yes, t.crowd_no AS no, t.crowd_yes + t.crowd_no AS n,
        CASE WHEN m.provider = 'manual' THEN least(greatest(
                (2 * (8 * m.initial_yes_bps + 10000 * t.crowd_yes) + 8 + t.crowd_yes + t.crowd_no)
                / (2 * (8 + t.crowd_yes + t.crowd_no)), 100), 9900)
             WHEN q.at >= sqlc.arg(now)::timestamptz - interval '10 minutes' THEN q.yes_bps END AS price
    FROM market_totals t
    JOIN markets m ON m.market_id = t.market_id
    LEFT JOIN market_quotes q ON q.market_id = t.market_id
    WHERE t.crowd_yes + t.crowd_no >= 3 AND m.status = 'open' AND (m.end_date IS NULL OR m.end_date > sqlc.arg(now)::timestamptz)
        AND (@market_id::text = '' OR t.market_id = @market_id::text)
)
SELECT market_id, yes, no FROM priced
WHERE price IS NOT NULL
ORDER BY abs((200 * yes + n) / (2 * n) * 100 - price) DESC, market_id
LIMIT sqlc.arg('limit');
