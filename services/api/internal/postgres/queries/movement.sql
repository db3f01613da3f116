-- name: ListOpenFacts :many
-- Returns the facts of every open market from which movement and attention are computed. The price at the start of a
-- window is the newest snapshot at or before it, or else the oldest snapshot in the window that covers at least half of
-- it. It is read only for markets with a quote of the last ten minutes, and for windows shorter than a day only if the
-- volume is large enough to list the market as moving. Native markets always have a price; each call on one stores a
-- snapshot.
WITH calls AS (
    SELECT market_id, count(*) AS n, count(*) FILTER (WHERE text_take <> '') AS takes FROM signals
        WHERE created_at > sqlc.arg(now)::timestamptz - interval '24 hours' GROUP BY market_id
), taken AS (
    SELECT s.market_id, count(*) AS n
    FROM signal_events e JOIN signals s ON s.id = e.signal_id
    WHERE e.type = 'take' AND e.created_at > sqlc.arg(now)::timestamptz - interval '24 hours'
    GROUP BY s.market_id
), open AS (
    SELECT m.market_id, m.provider, m.title, coalesce(m.outcome_labels[m.yes_index + 1], 'Yes') AS outcome, m.lane,
        m.event_key, m.event_title, m.slug, m.image_url, m.end_date, NOT m.provisional AND NOT m.disputed AS callable,
        m.initial_yes_bps, q.yes_bps, q.at, q.volume_usd,
        -- In USD, at the rate of the whole volume.
        CASE WHEN m.volume_unit = 'usd' THEN q.volume24h WHEN q.volume > 0 THEN q.volume24h * q.volume_usd / q.volume END AS volume24h,
        m.provider = 'manual' OR q.yes_bps IS NOT NULL AND q.at >= sqlc.arg(now)::timestamptz - interval '10 minutes' AS priced,
        coalesce(q.volume_usd >= 1000, false) AS heavy
    FROM markets m LEFT JOIN market_quotes q ON q.market_id = m.market_id
    WHERE m.status = 'open' AND (m.provider <> 'manual' OR m.end_date IS NULL OR m.end_date > sqlc.arg(now)::timestamptz)
)
SELECT o.market_id, o.provider, o.title, o.outcome::text AS outcome, o.lane, o.event_key, o.event_title, o.slug, o.image_url,
    o.end_date,
    o.callable::boolean AS callable, o.initial_yes_bps, o.yes_bps, o.at::pg_catalog.timestamptz AS priced_at, o.volume_usd,
    o.volume24h::float8 AS volume24h, coalesce(t.yes + t.no, 0)::bigint AS signals, coalesce(t.crowd_yes, 0)::bigint AS crowd_yes,
    coalesce(t.crowd_no, 0)::bigint AS crowd_no, coalesce(c.n, 0)::bigint AS signals24h, (coalesce(k.n, 0) + coalesce(c.takes, 0))::bigint AS takes24h,
    s.m15::int4 AS from15m, s.h1::int4 AS from1h, s.h6::int4 AS from6h, d.h24::int4 AS from24h
FROM open o
LEFT JOIN market_totals t ON t.market_id = o.market_id
LEFT JOIN calls c ON c.market_id = o.market_id
LEFT JOIN taken k ON k.market_id = o.market_id
LEFT JOIN LATERAL (
    SELECT coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= sqlc.arg(now)::timestamptz - interval '24 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > sqlc.arg(now)::timestamptz - interval '24 hours'
                AND p.at <= sqlc.arg(now)::timestamptz - interval '12 hours' ORDER BY p.at LIMIT 1)) AS h24
) d ON o.priced
LEFT JOIN LATERAL (
    SELECT coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= sqlc.arg(now)::timestamptz - interval '15 minutes' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > sqlc.arg(now)::timestamptz - interval '15 minutes'
                AND p.at <= sqlc.arg(now)::timestamptz - interval '7.5 minutes' ORDER BY p.at LIMIT 1)) AS m15,
    coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= sqlc.arg(now)::timestamptz - interval '1 hour' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > sqlc.arg(now)::timestamptz - interval '1 hour'
                AND p.at <= sqlc.arg(now)::timestamptz - interval '30 minutes' ORDER BY p.at LIMIT 1)) AS h1,
    coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= sqlc.arg(now)::timestamptz - interval '6 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > sqlc.arg(now)::timestamptz - interval '6 hours'
                AND p.at <= sqlc.arg(now)::timestamptz - interval '3 hours' ORDER BY p.at LIMIT 1)) AS h6
) s ON o.priced AND o.heavy;

-- name: ListSightings :many
-- Returns the time at which each move and situation was first seen.
SELECT kind, span, key, seen_at FROM movement_sightings;

-- name: StoreSightings :exec
-- Stores new sightings and deletes ended ones.
WITH dropped AS (
    DELETE FROM movement_sightings AS s
    USING unnest(@old_kinds::text[], @old_spans::text[], @old_keys::text[]) AS g (kind, span, key)
    WHERE s.kind = g.kind AND s.span = g.span AND s.key = g.key
)
INSERT INTO movement_sightings (kind, span, key, seen_at)
SELECT i.kind, i.span, i.key, i.seen_at
FROM unnest(@kinds::text[], @spans::text[], @keys::text[], @seen_at::timestamptz[]) AS i (kind, span, key, seen_at)
ON CONFLICT (kind, span, key) DO NOTHING;

-- name: ListAttention :many
-- Returns the score that each of the markets had at a time.
SELECT i.market_id::text AS market_id, s.score
FROM unnest(@ids::text[]) AS i (market_id)
CROSS JOIN LATERAL (
    SELECT a.score FROM attention_scores AS a
    WHERE a.market_id = i.market_id AND a.at <= @at
    ORDER BY a.at DESC LIMIT 1) AS s;

-- name: ListAttentionHistory :many
-- Returns the score of a market at a time and its later changes, newest first.
SELECT p.at, p.score FROM (
    (SELECT a.at, a.score FROM attention_scores AS a
        WHERE a.market_id = @market_id AND a.at < @since::timestamptz ORDER BY a.at DESC LIMIT 1)
    UNION ALL
    (SELECT a.at, a.score FROM attention_scores AS a
        WHERE a.market_id = @market_id AND a.at >= @since::timestamptz ORDER BY a.at DESC LIMIT sqlc.arg('limit'))
) AS p
ORDER BY p.at DESC LIMIT sqlc.arg('limit');

-- name: StoreAttention :execrows
-- Adds scores that differ from the last score of their market. A history does not start with 0.
INSERT INTO attention_scores (market_id, at, score)
SELECT i.market_id, @at::timestamptz, i.score
FROM unnest(@ids::text[], @scores::integer[]) AS i (market_id, score)
LEFT JOIN LATERAL (
    SELECT a.score FROM attention_scores AS a WHERE a.market_id = i.market_id ORDER BY a.at DESC LIMIT 1
) AS last ON true
WHERE i.score <> coalesce(last.score, 0)
ON CONFLICT (market_id, at) DO NOTHING;

-- name: DeleteOldAttention :execrows
-- Deletes at most the given number of scores that are older than a time.
DELETE FROM attention_scores WHERE (market_id, at) IN (
    SELECT a.market_id, a.at FROM attention_scores AS a WHERE a.at < @before::timestamptz LIMIT sqlc.arg('limit'));

-- name: ThinAttention :execrows
-- Deletes scores between two times, except the last one of each 15 minutes of a market.
DELETE FROM attention_scores WHERE (market_id, at) IN (
    SELECT a.market_id, a.at FROM attention_scores AS a
    WHERE a.at >= @since::timestamptz AND a.at < @before::timestamptz AND EXISTS (
        SELECT FROM attention_scores AS later
        WHERE later.market_id = a.market_id AND later.at > a.at
            AND later.at < least(@before::timestamptz, date_bin('15 minutes', a.at, 'epoch') + interval '15 minutes'))
    LIMIT sqlc.arg('limit'));
