-- name: GetMarket :one
-- Returns a market with its quote and counters.
SELECT sqlc.embed(m) FROM market_records AS m WHERE m.market_id = @market_id;

-- name: ListMarkets :many
-- Returns the given markets that exist, in no order.
SELECT sqlc.embed(m) FROM market_records AS m WHERE m.market_id = ANY (@ids::text[]);

-- name: ListAirableMarkets :many
-- Returns open markets that end more than ten minutes after @now and have a price that is at most ten minutes old, by
-- end date. An empty lane selects every lane, limit 0 all markets.
SELECT sqlc.embed(m) FROM market_records AS m
WHERE m.status = 'open' AND NOT m.provisional AND NOT m.disputed
    AND m.end_date > sqlc.arg(now)::timestamptz + interval '10 minutes'
    AND (m.provider = 'manual' OR m.yes_bps IS NOT NULL AND m.quoted_at >= sqlc.arg(now)::timestamptz - interval '10 minutes')
    AND (@lane::text = '' OR m.lane = @lane::text)
ORDER BY m.end_date, m.market_id
LIMIT nullif(sqlc.arg('limit')::integer, 0);

-- name: ListNativeMarkets :many
-- Returns native markets, newest first, with their pending proposal if it was made after @alive_after. The status open
-- selects every market without an outcome. @due selects only markets without an outcome whose cutoff has passed.
SELECT sqlc.embed(m), p.verdict, p.proof_url, p.proposed_at
FROM market_records AS m
LEFT JOIN resolution_proposals AS p ON p.market_id = m.market_id AND p.proposed_at > @alive_after
WHERE m.provider = 'manual'
    AND CASE @status::text
        WHEN 'open' THEN m.status <> 'resolved'
        WHEN 'closed' THEN m.status = 'closed' OR m.status = 'open' AND m.end_date <= @now::timestamptz
        WHEN 'resolved' THEN m.status = 'resolved'
        ELSE true END
    AND (NOT @due::boolean OR m.status <> 'resolved' AND m.end_date <= @now::timestamptz)
ORDER BY m.created_at DESC, m.market_id DESC
LIMIT sqlc.arg('limit');

-- name: ListPrices :many
-- Returns the snapshots of a market since a time, oldest first. If there are more than @most, it returns the last
-- snapshot of each of @most equal parts of the time span.
WITH span AS (
    SELECT count(*) AS n, extract(epoch FROM min(s.at)) AS low, extract(epoch FROM max(s.at)) AS high
    FROM market_prices AS s WHERE s.market_id = @market_id AND s.at >= @since::timestamptz
), placed AS (
    SELECT p.at, p.yes_bps,
        CASE WHEN span.n <= @most::integer THEN row_number() OVER (ORDER BY p.at)
             ELSE width_bucket(extract(epoch FROM p.at), span.low, span.high + 0.001, @most::integer) END AS bucket
    FROM market_prices AS p CROSS JOIN span
    WHERE p.market_id = @market_id AND p.at >= @since::timestamptz
)
SELECT DISTINCT ON (placed.bucket) placed.at, placed.yes_bps FROM placed ORDER BY placed.bucket, placed.at DESC;

-- name: ListTrends :many
-- Returns the prices of markets at @points times, a step apart and ending with @now, oldest first. A time before the first
-- snapshot of a market has no row.
SELECT i.market_id::text AS market_id, p.yes_bps
FROM unnest(@ids::text[]) AS i (market_id)
CROSS JOIN generate_series(sqlc.arg(points)::integer - 1, 0, -1) AS n (steps)
CROSS JOIN LATERAL (
    SELECT s.yes_bps FROM market_prices AS s
    WHERE s.market_id = i.market_id AND s.at <= sqlc.arg(now)::timestamptz - n.steps * sqlc.arg(step_seconds)::integer * interval '1 second'
    ORDER BY s.at DESC LIMIT 1) AS p
ORDER BY i.market_id, n.steps DESC;

-- name: ListMarketCrowds :many
-- Returns the prices and the crowd of markets. The stored quote of a native market is the price of its crowd.
SELECT m.market_id, m.lane, q.yes_bps,
    CASE WHEN m.provider = 'manual' THEN q.yes_bps ELSE q.yes_price_bps END::int4 AS yes_price_bps,
    CASE WHEN m.provider = 'manual' THEN 10000 - q.yes_bps ELSE q.no_price_bps END::int4 AS no_price_bps,
    coalesce(t.crowd_yes, 0)::bigint AS crowd_yes, coalesce(t.crowd_no, 0)::bigint AS crowd_no
FROM unnest(@ids::text[]) AS i (market_id)
JOIN markets AS m ON m.market_id = i.market_id
LEFT JOIN market_quotes AS q ON q.market_id = m.market_id
LEFT JOIN market_totals AS t ON t.market_id = m.market_id;

-- name: SetMarketRated :one
-- Sets whether calls on a market count and returns the previous setting.
UPDATE markets AS m SET rated_ruling = @rated::boolean, updated_at = @now
FROM (SELECT k.market_id, k.rated_ruling FROM markets AS k WHERE k.market_id = @market_id FOR UPDATE) AS o
WHERE m.market_id = o.market_id
RETURNING o.rated_ruling;

-- name: InsertStub :exec
-- Stores a market that no venue has confirmed, so that a call on it is not lost. Its title is its id.
INSERT INTO markets (market_id, provider, title, status, created_at, updated_at)
VALUES (@market_id, @provider, @market_id, 'unknown', @now, @now)
ON CONFLICT (market_id) DO NOTHING;

-- name: InsertNativeMarket :exec
-- Stores a native market with its first quote and snapshot.
WITH market AS (
    INSERT INTO markets (market_id, provider, title, description, status, end_date, lane, category, resolves_by,
        resolution_source, initial_yes_bps, created_by, created_at, updated_at)
    VALUES (@market_id, 'manual', @title, @description, 'open', @end_date, @lane, @category, @resolves_by, @resolution_source,
        sqlc.narg(initial_yes_bps)::integer, @created_by, @created_at::timestamptz, @created_at::timestamptz)
    RETURNING market_id
), quoted AS (
    INSERT INTO market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h, liquidity)
    SELECT market_id, sqlc.narg(initial_yes_bps)::integer, @created_at::timestamptz, 0, 0, 0, 0 FROM market
)
INSERT INTO market_prices (market_id, at, yes_bps) SELECT market_id, @created_at::timestamptz,
    sqlc.narg(initial_yes_bps)::integer FROM market;

-- name: ListKnownLanes :many
-- Returns the lanes of the given markets that exist.
SELECT market_id, title, lane, category, lane_ruled FROM markets WHERE market_id = ANY (@ids::text[]);

-- name: LockMarketLane :one
-- Returns the lane of a market and locks it for a change.
SELECT title, lane, category FROM markets WHERE market_id = @market_id FOR NO KEY UPDATE;

-- name: SetMarketLane :exec
-- Sets the lane of a market by decision of an administrator. Answers of the venue no longer change it.
UPDATE markets SET lane = @lane, category = @category, lane_ruled = true, updated_at = @now WHERE market_id = @market_id;

-- name: CountLanes :many
-- Counts calls and markets with a call by lane. Open calls are those on open markets.
SELECT coalesce(m.lane, 'OTHER')::text AS lane, sum(t.yes + t.no)::bigint AS signals,
    coalesce(sum(t.yes + t.no) FILTER (WHERE m.status = 'open'), 0)::bigint AS open, count(*) AS markets
FROM market_totals AS t LEFT JOIN markets AS m ON m.market_id = t.market_id
WHERE t.yes + t.no > 0
GROUP BY 1;

-- name: ListMarketTokens :many
-- Returns the order-book tokens of the given markets that have one.
SELECT market_id, clob_token_id FROM markets WHERE market_id = ANY (@ids::text[]) AND clob_token_id <> '';

-- name: ListWatchedMarkets :many
-- Returns the number of viewers of the streams of each market, from reports after @since.
SELECT market_id, least(sum(viewers), 2147483647)::integer AS viewers
FROM market_live
WHERE bound AND viewers > 0 AND viewers_at > @since
GROUP BY market_id;
