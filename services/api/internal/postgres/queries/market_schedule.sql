-- name: ListHotMarkets :many
-- Returns markets of a provider whose price is due, because it was not refreshed since @priced_before: at most @most
-- with open calls or in a programme soon (the next markets of each programme lane by end date), and at most @most_new
-- with open calls that never had an answer. The separate limit prevents the latter from displacing the others. Markets
-- that were requested since @asked_before without an answer are omitted; an answer within a minute after the request
-- counts. The lanes are read one by one along the index markets_by_lane. Volumes are compared in USD.
WITH RECURSIVE lanes AS (
    (SELECT m.category FROM markets m
     WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
     ORDER BY m.category LIMIT 1)
    UNION ALL
    SELECT (SELECT m.category FROM markets m
        WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
            AND m.category > l.category
        ORDER BY m.category LIMIT 1)
    FROM lanes l WHERE l.category IS NOT NULL
), hot AS (
    SELECT n.market_id FROM lanes l CROSS JOIN LATERAL (
        SELECT m.market_id
        FROM markets m JOIN market_quotes q ON q.market_id = m.market_id
        WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
            AND m.category = l.category AND m.end_date > sqlc.arg(now)::timestamptz + interval '10 minutes'
            AND q.yes_bps IS NOT NULL AND q.volume_usd >= 1000
        ORDER BY m.end_date, m.market_id LIMIT 24) n
    UNION
    SELECT m.market_id FROM market_totals t JOIN markets m ON m.market_id = t.market_id
    WHERE m.provider = @provider::text AND m.status IN ('open', 'unknown')
), due AS (
    SELECT h.market_id, q.at AS priced, c.at AS asked,
        row_number() OVER (PARTITION BY q.at IS NULL ORDER BY coalesce(q.at, c.at) NULLS FIRST, h.market_id) AS place
    FROM hot h
    LEFT JOIN (SELECT market_id, coalesce(answered_at, at) AS at FROM market_quotes) q ON q.market_id = h.market_id
    LEFT JOIN market_checks c ON c.market_id = h.market_id
    WHERE coalesce(q.at < @priced_before::timestamptz, true)
        AND (c.at IS NULL OR c.at < @asked_before::timestamptz OR coalesce(c.at < q.at + interval '1 minute', false))
)
SELECT market_id FROM due
WHERE place <= CASE WHEN priced IS NULL THEN @most_new::integer ELSE @most::integer END
ORDER BY priced IS NULL, place;

-- name: ListMissedMarkets :many
-- Returns open markets of a provider without an answer since @seen_before, except those that were requested since
-- @asked_before. Markets with the oldest request or answer come first, so that markets which a venue no longer returns
-- do not displace the others.
SELECT m.market_id FROM markets AS m
LEFT JOIN (SELECT market_id, coalesce(answered_at, at) AS at FROM market_quotes) AS q ON q.market_id = m.market_id
LEFT JOIN market_checks AS c ON c.market_id = m.market_id
WHERE m.provider = @provider AND m.status = 'open' AND coalesce(q.at < @seen_before::timestamptz, true)
    AND coalesce(c.at < @asked_before::timestamptz, true)
ORDER BY greatest(q.at, c.at) NULLS FIRST, m.market_id
LIMIT sqlc.arg('limit');

-- name: ListStreamedMarkets :many
-- Returns the open markets of a provider whose price is streamed: first those with open calls, then those that are
-- viewed, then the next markets of the programme lanes as in ListHotMarkets.
WITH RECURSIVE lanes AS (
    (SELECT m.category FROM markets m
     WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
     ORDER BY m.category LIMIT 1)
    UNION ALL
    SELECT (SELECT m.category FROM markets m
        WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
            AND m.category > l.category
        ORDER BY m.category LIMIT 1)
    FROM lanes l WHERE l.category IS NOT NULL
), wanted AS (
    SELECT t.market_id, 1 AS rank FROM market_totals t
    UNION ALL
    SELECT unnest(@viewed::text[]), 2
    UNION ALL
    SELECT n.market_id, 3 FROM lanes l CROSS JOIN LATERAL (
        SELECT m.market_id
        FROM markets m JOIN market_quotes q ON q.market_id = m.market_id
        WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.category NOT IN ('', 'other')
            AND m.category = l.category AND m.end_date > sqlc.arg(now)::timestamptz + interval '10 minutes'
            AND q.yes_bps IS NOT NULL AND q.volume_usd >= 1000
        ORDER BY m.end_date, m.market_id LIMIT 24) n
)
SELECT m.market_id, m.clob_token_id, m.yes_index
FROM (SELECT market_id, min(rank) AS rank FROM wanted GROUP BY market_id) w
JOIN markets m ON m.market_id = w.market_id
WHERE m.provider = @provider::text AND m.status = 'open' AND NOT m.provisional AND m.clob_token_id <> ''
ORDER BY w.rank, m.end_date, m.market_id
LIMIT sqlc.arg('limit');

-- name: ListMarketsAwaitingQuote :many
-- Returns open markets of a provider with calls filed in (@from_time, @to_time], without a quote dated at least
-- @confirm_after after the newest of these calls. Markets with the oldest call come first. The prefix of the id
-- excludes other providers. Quotes are read by key until enough markets without one are found; then these markets are
-- read.
SELECT c.market_id
FROM (
    SELECT o.market_id, min(o.created_at) AS oldest, max(o.created_at) AS newest
    FROM open_signals AS o
    WHERE o.created_at > @from_time::timestamptz AND o.created_at <= @to_time::timestamptz
        AND CASE sqlc.arg(prefix)::text WHEN '' THEN strpos(o.market_id, '-') = 0 ELSE starts_with(o.market_id,
            sqlc.arg(prefix)::text) END
    GROUP BY o.market_id
    ORDER BY oldest, o.market_id
) c
LEFT JOIN LATERAL (
    SELECT true AS found FROM quotes q WHERE q.market_id = c.market_id
        AND q.at >= c.newest + sqlc.arg(confirm_after)::interval LIMIT 1) q ON true
CROSS JOIN LATERAL (
    SELECT FROM markets m
    WHERE q.found IS NULL AND m.market_id = c.market_id AND m.provider = @provider AND m.status = 'open'
        AND NOT m.provisional LIMIT 1) m
ORDER BY c.oldest, c.market_id LIMIT sqlc.arg('limit');

-- name: MarkMarketsChecked :exec
-- Stores the time at which venues were requested for markets.
INSERT INTO market_checks AS c (market_id, at)
SELECT i.market_id, @now::timestamptz FROM unnest(@ids::text[]) AS i (market_id) ORDER BY i.market_id
ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at;

-- name: ClaimPendingMarkets :many
-- Returns markets with open calls and no outcome, the one with the oldest check first, and stores the time of the
-- check.
WITH picked AS MATERIALIZED (
    SELECT m.market_id, m.disputed, c.at
    FROM markets m
    LEFT JOIN market_checks c ON c.market_id = m.market_id
    WHERE m.provider = ANY (@providers::text[]) AND m.status <> 'resolved'
        AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = m.market_id)
    ORDER BY c.at NULLS FIRST, m.market_id
    LIMIT sqlc.arg('limit')
), noted AS (
    INSERT INTO market_checks AS c (market_id, at)
    SELECT market_id, @now::timestamptz FROM picked ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at
)
SELECT market_id, disputed FROM picked ORDER BY at NULLS FIRST, market_id;

-- name: ClaimDueMarkets :many
-- Like ClaimPendingMarkets, for markets whose last answer or check is older than @near_before if they end before
-- @ending_before, and otherwise older than @far_before, or whose final verdict is older than @final_before. Markets
-- with such a verdict come first. Markets that never had an answer come last, because their number is not limited.
WITH picked AS MATERIALIZED (
    SELECT m.market_id, m.disputed, row_number() OVER (
        ORDER BY coalesce(m.final_at <= @final_before::timestamptz, false) DESC, q.at IS NULL, greatest(c.at,
            q.at) NULLS FIRST, m.market_id) AS place
    FROM markets m
    LEFT JOIN market_checks c ON c.market_id = m.market_id
    LEFT JOIN (SELECT market_id, coalesce(answered_at, at) AS at FROM market_quotes) q ON q.market_id = m.market_id
    WHERE m.provider = ANY (@providers::text[]) AND m.status <> 'resolved' AND NOT m.disputed
        AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = m.market_id)
        AND (m.final_at <= @final_before::timestamptz
            OR coalesce(greatest(c.at, q.at) <= CASE WHEN m.end_date <= @ending_before::timestamptz
                THEN @near_before::timestamptz ELSE @far_before::timestamptz END, true))
    ORDER BY place
    LIMIT sqlc.arg('limit')
), noted AS (
    INSERT INTO market_checks AS c (market_id, at)
    SELECT market_id, @now::timestamptz FROM picked ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at
)
SELECT market_id, disputed FROM picked ORDER BY place;

-- name: ClaimIdleMarkets :many
-- Returns closed markets without calls and without an outcome whose check is due, and stores the time of the check. A
-- check is due when the final verdict is as old as @final_before and was not read since it had this age. Otherwise it is
-- due after @pause, and an eighth of the time since the end of the market, but at most one day: some venues never return
-- a result, and the number of such markets grows. Due final verdicts come first, then the markets with the oldest check.
WITH picked AS MATERIALIZED (
    SELECT m.market_id, row_number() OVER (ORDER BY d.final DESC, d.read_at NULLS FIRST, m.market_id) AS place
    FROM markets m
    LEFT JOIN market_checks c ON c.market_id = m.market_id
    LEFT JOIN market_quotes q ON q.market_id = m.market_id
    CROSS JOIN LATERAL (
        SELECT r.at AS read_at, coalesce(m.final_at <= @final_before::timestamptz
            AND coalesce(r.at <= m.final_at + (sqlc.arg(now)::timestamptz - @final_before::timestamptz), true), false) AS final
        FROM (SELECT greatest(c.at, coalesce(q.answered_at, q.at)) AS at) AS r
    ) AS d
    WHERE m.provider = ANY (@providers::text[]) AND m.status = 'closed' AND m.provider <> 'manual' AND NOT m.disputed
        AND NOT EXISTS (SELECT FROM market_totals t WHERE t.market_id = m.market_id)
        AND (d.final OR coalesce(d.read_at <= sqlc.arg(now)::timestamptz - greatest(sqlc.arg(pause)::interval,
            least((sqlc.arg(now)::timestamptz - m.closed_at) / 8, interval '1 day')), true))
    ORDER BY place
    LIMIT sqlc.arg('limit')
), noted AS (
    INSERT INTO market_checks AS c (market_id, at)
    SELECT market_id, @now::timestamptz FROM picked ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at
)
SELECT market_id FROM picked ORDER BY place;

-- name: CloseNativeMarkets :one
-- Closes native markets whose cutoff has passed and queues the events.
WITH due AS (
    SELECT d.market_id FROM markets AS d
    WHERE d.provider = 'manual' AND d.status = 'open' AND d.end_date <= @now::timestamptz
    ORDER BY d.market_id LIMIT 500
    FOR UPDATE SKIP LOCKED
), closed AS (
    UPDATE markets AS m SET status = 'closed', closed_at = coalesce(m.closed_at, m.end_date), updated_at = @now::timestamptz
    FROM due WHERE m.market_id = due.market_id
    RETURNING m.market_id
), queued AS (
    INSERT INTO outbox (type, market_id, data, at)
    SELECT 'market.status', c.market_id, '{"from": "open", "to": "closed"}', @now::timestamptz FROM closed AS c
        ORDER BY c.market_id
    RETURNING id
), woken AS (
    SELECT pg_notify('sc_outbox', '') FROM queued LIMIT 1
)
SELECT count(*) AS closed, (SELECT count(*) FROM woken) AS woken FROM closed;
