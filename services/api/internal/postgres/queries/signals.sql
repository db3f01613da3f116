-- name: GetSignal :one
-- Returns a call, also one on a market that no venue has confirmed.
SELECT v.* FROM filed_records AS v WHERE v.id = @id;

-- name: GetSignalOfOperator :one
-- Returns the call of an operator on a market, the published one first.
SELECT v.* FROM filed_records AS v WHERE v.market_id = @market_id AND v.user_id = @user_id
ORDER BY v.unconfirmed LIMIT 1;

-- name: ListRecentSignals :many
-- Returns the newest calls.
SELECT v.* FROM signal_records AS v ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: ListSignalsAgainstCrowd :many
-- Returns the newest won calls against the market's price.
WITH top AS (
    SELECT b.signal_id, b.resolved_at FROM signal_results AS b WHERE b.beat_crowd
    ORDER BY b.resolved_at DESC, b.signal_id DESC LIMIT sqlc.arg('limit')
)
SELECT v.* FROM top JOIN signal_records AS v ON v.id = top.signal_id
ORDER BY top.resolved_at DESC, top.signal_id DESC;

-- name: ListSignalsOfCategory :many
-- Returns the newest calls on markets of a category. It first searches the 2000 newest calls of all categories. If
-- these contain too few, the category has few markets, and the newest calls of each market are read.
WITH near AS MATERIALIZED (
    SELECT s.id, s.created_at
    FROM (SELECT id, market_id, created_at FROM signals ORDER BY created_at DESC, id DESC LIMIT 2000) AS s
    JOIN markets AS m ON m.market_id = s.market_id
    WHERE m.category = @category
    ORDER BY s.created_at DESC, s.id DESC LIMIT sqlc.arg('limit')
), far AS MATERIALIZED (
    SELECT n.id, n.created_at
    FROM markets AS m CROSS JOIN LATERAL (
        SELECT s.id, s.created_at FROM signals AS s WHERE s.market_id = m.market_id
        ORDER BY s.created_at DESC, s.id DESC LIMIT sqlc.arg('limit')) AS n
    WHERE m.category = @category AND m.category <> '' AND (SELECT count(*) FROM near) < sqlc.arg('limit')
    ORDER BY n.created_at DESC, n.id DESC LIMIT sqlc.arg('limit')
), top AS (
    SELECT id FROM near UNION SELECT id FROM far
)
SELECT v.* FROM top JOIN signal_records AS v ON v.id = top.id
ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: ListOpenSignals :many
-- Returns the newest calls on open markets. live is the YES price of the market if it is at most ten minutes old. Each
-- market is read once.
WITH top AS (
    SELECT o.signal_id, o.created_at, m.lane,
        CASE WHEN m.provider = 'manual' OR q.at >= sqlc.arg(now)::timestamptz - interval '10 minutes' THEN q.yes_bps END AS live
    FROM open_signals AS o
    CROSS JOIN LATERAL (SELECT provider, lane FROM markets WHERE market_id = o.market_id AND status = 'open' LIMIT 1) AS m
    LEFT JOIN LATERAL (SELECT yes_bps, at FROM market_quotes WHERE market_id = o.market_id LIMIT 1) AS q ON true
    ORDER BY o.created_at DESC, o.signal_id DESC LIMIT sqlc.arg('limit')
)
SELECT sqlc.embed(v), top.lane AS market_lane, top.live::int4 AS live
FROM top JOIN listed_records AS v ON v.id = top.signal_id
ORDER BY top.created_at DESC, top.signal_id DESC;

-- name: ListSignalsOfMarket :many
-- Returns the calls on a market before a position, newest first. The market is read once.
SELECT sqlc.embed(v), coalesce((SELECT m.lane FROM markets AS m WHERE m.market_id = @market_id), 'OTHER')::text AS market_lane
FROM listed_records AS v
WHERE v.market_id = @market_id AND (v.created_at, v.id) < (@before_at::timestamptz, @before_id::uuid)
ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: ListSignals :many
-- Returns the calls between two positions, newest first, of a lane, a status and a handle that were resolved after a time.
-- An empty filter selects all.
SELECT v.* FROM signal_records AS v
WHERE (v.created_at, v.id) < (@before_at::timestamptz, @before_id::uuid) AND (v.created_at, v.id) >= (@to_at::timestamptz,
    @to_id::uuid)
    AND (@lane::text = '' OR v.lane = @lane) AND (cardinality(@statuses::text[]) = 0 OR v.status = ANY(@statuses::text[]))
    AND (sqlc.narg(resolved_after)::timestamptz IS NULL OR v.resolved_at > sqlc.narg(resolved_after)::timestamptz)
    AND (@handle::text = '' OR v.handle = @handle)
ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: ListFilteredSignalsOfMarket :many
-- Like ListSignals for one market.
SELECT v.* FROM signal_records AS v
WHERE (v.created_at, v.id) < (@before_at::timestamptz, @before_id::uuid) AND (v.created_at, v.id) >= (@to_at::timestamptz,
    @to_id::uuid)
    AND (@lane::text = '' OR v.lane = @lane) AND (cardinality(@statuses::text[]) = 0 OR v.status = ANY(@statuses::text[]))
    AND (sqlc.narg(resolved_after)::timestamptz IS NULL OR v.resolved_at > sqlc.narg(resolved_after)::timestamptz)
    AND (@handle::text = '' OR v.user_id = (SELECT operator_of(@handle))) AND v.market_id = @market_id
ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: ListSignalsOfOperator :many
-- Like ListSignals for one operator.
SELECT v.* FROM signal_records AS v
WHERE (v.created_at, v.id) < (@before_at::timestamptz, @before_id::uuid) AND (v.created_at, v.id) >= (@to_at::timestamptz,
    @to_id::uuid)
    AND (@lane::text = '' OR v.lane = @lane) AND (cardinality(@statuses::text[]) = 0 OR v.status = ANY(@statuses::text[]))
    AND (sqlc.narg(resolved_after)::timestamptz IS NULL OR v.resolved_at > sqlc.narg(resolved_after)::timestamptz)
    AND v.user_id = (SELECT operator_of(@handle))
ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: ListFiledSignalsOfOperator :many
-- Like ListSignals for one operator who reads its own calls, which include those on unconfirmed markets.
SELECT v.* FROM filed_records AS v
WHERE (v.created_at, v.id) < (@before_at::timestamptz, @before_id::uuid) AND (v.created_at, v.id) >= (@to_at::timestamptz,
    @to_id::uuid)
    AND (@lane::text = '' OR v.lane = @lane) AND (cardinality(@statuses::text[]) = 0 OR v.status = ANY(@statuses::text[]))
    AND (sqlc.narg(resolved_after)::timestamptz IS NULL OR v.resolved_at > sqlc.narg(resolved_after)::timestamptz)
    AND v.user_id = (SELECT operator_of(@handle))
ORDER BY v.created_at DESC, v.id DESC LIMIT sqlc.arg('limit');

-- name: FindWindowEnd :one
-- Returns the position of the last of the next @most calls before a position. A filtered list searches no further.
SELECT s.created_at, s.id FROM signals AS s
WHERE (s.created_at, s.id) < (@before_at::timestamptz, @before_id::uuid)
ORDER BY s.created_at DESC, s.id DESC OFFSET sqlc.arg(most)::bigint - 1 LIMIT 1;

-- name: FindWindowEndOfMarket :one
-- Like FindWindowEnd for the calls on one market.
SELECT s.created_at, s.id FROM signals AS s
WHERE (s.created_at, s.id) < (@before_at::timestamptz, @before_id::uuid) AND s.market_id = @market_id
ORDER BY s.created_at DESC, s.id DESC OFFSET sqlc.arg(most)::bigint - 1 LIMIT 1;

-- name: FindWindowEndOfOperator :one
-- Like FindWindowEnd for the calls of one operator.
SELECT s.created_at, s.id FROM signals AS s
WHERE (s.created_at, s.id) < (@before_at::timestamptz, @before_id::uuid)
    AND s.user_id = (SELECT operator_of(@handle))
ORDER BY s.created_at DESC, s.id DESC OFFSET sqlc.arg(most)::bigint - 1 LIMIT 1;

-- name: ListSignalEvents :many
-- Returns the history of a call, oldest first: the events of its owner, and the resolution, which comes from the
-- result.
SELECT e.id, e.type, shown_payload(e.id, e.signal_id, e.payload)::text AS payload, e.actor, e.created_at
FROM signal_events AS e WHERE e.signal_id = @signal_id
UNION ALL
SELECT r.event_id, 'resolved', jsonb_build_object(
        'outcome', c.outcome, 'status', r.status, 'score', r.score, 'closePrice', r.close_price, 'clvBps', r.clv_bps,
        'resolver', c.resolver, 'source', c.source, 'proofUrl', c.proof_url,
        'scoringVersion', r.scoring_version, 'scoringVertical', r.scoring_vertical, 'scoreBasisBps', coalesce(r.basis_bps,
            s.score_basis_bps),
        'priceVerified', s.price_verified, 'rated', s.rated, 'counted', r.counted, 'reason', r.reason,
        'quoteAt', to_char(s.quote_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'confirmedAt', to_char(r.confirmed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
    coalesce(nullif(c.source, ''), c.resolver), r.resolved_at
FROM signal_results AS r
JOIN signals AS s ON s.id = r.signal_id
JOIN market_resolutions AS c ON c.market_id = s.market_id
WHERE r.signal_id = @signal_id
UNION ALL
SELECT md5('resolved ' || w.signal_id::text)::uuid, 'resolved', jsonb_build_object(
        'outcome', NULL, 'status', 'void', 'score', 0, 'closePrice', NULL, 'clvBps', NULL, 'counted', false, 'reason',
            'unknown_market')::text,
    'ledger', w.denied_at
FROM unconfirmed_signals AS w
WHERE w.signal_id = @signal_id AND w.denied_at IS NOT NULL
ORDER BY 5, 1;

-- name: ListEventsOfSignals :many
-- Returns the histories of many calls up to @as_of, in the form of ListSignalEvents.
SELECT e.signal_id, e.id, e.type, shown_payload(e.id, e.signal_id, e.payload)::text AS payload, e.actor, e.created_at
FROM signal_events AS e WHERE e.signal_id = ANY (@signal_ids::uuid[]) AND e.created_at <= @as_of::timestamptz
UNION ALL
SELECT r.signal_id, r.event_id, 'resolved', jsonb_build_object(
        'outcome', c.outcome, 'status', r.status, 'score', r.score, 'closePrice', r.close_price, 'clvBps', r.clv_bps,
        'resolver', c.resolver, 'source', c.source, 'proofUrl', c.proof_url,
        'scoringVersion', r.scoring_version, 'scoringVertical', r.scoring_vertical, 'scoreBasisBps', coalesce(r.basis_bps,
            s.score_basis_bps),
        'priceVerified', s.price_verified, 'rated', s.rated, 'counted', r.counted, 'reason', r.reason,
        'quoteAt', to_char(s.quote_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'confirmedAt', to_char(r.confirmed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
    coalesce(nullif(c.source, ''), c.resolver), r.resolved_at
FROM signal_results AS r
JOIN signals AS s ON s.id = r.signal_id
JOIN market_resolutions AS c ON c.market_id = s.market_id
WHERE r.signal_id = ANY (@signal_ids::uuid[]) AND r.resolved_at <= @as_of::timestamptz
ORDER BY 6, 2;

-- name: LockSignalEvents :exec
-- Locks the history of a call. Appends to one call are serialized, so that the count of its events is exact.
SELECT pg_advisory_xact_lock(hashtextextended(@signal_id::text, 7));

-- name: AppendSignalEvent :one
-- Adds one event to a call of the caller and verifies the key of the caller. Without a key the caller is @user_id.
WITH caller AS (
    SELECT u.id FROM users AS u
    LEFT JOIN operator_keys AS k ON k.hash = @key_hash AND k.revoked_at IS NULL
    WHERE u.id = coalesce(k.user_id, sqlc.narg(user_id)::uuid)
), used AS (
    UPDATE operator_keys AS o SET last_used_at = @now::timestamptz
    WHERE o.hash = @key_hash AND o.revoked_at IS NULL
        AND (o.last_used_at IS NULL OR o.last_used_at < sqlc.arg(now)::timestamptz - interval '1 minute')
), earlier AS (
    SELECT f.signal_id = @signal_id::uuid AND f.type = @type::text AND f.payload = @payload::jsonb AS same, f.created_at
    FROM signal_events AS f WHERE f.id = @id::uuid
), target AS (
    SELECT s.id, s.market_id, s.user_id, c.id AS actor,
        (SELECT count(*) FROM signal_events AS g WHERE g.signal_id = s.id) AS events,
        EXISTS (SELECT FROM earlier) AS stored
    FROM signals AS s LEFT JOIN caller AS c ON true
    WHERE s.id = @signal_id::uuid
), added AS (
    INSERT INTO signal_events (id, signal_id, type, payload, actor, created_at)
    SELECT @id::uuid, t.id, @type::text, @payload::jsonb, sqlc.narg(actor)::text, @now::timestamptz FROM target AS t
    WHERE t.user_id = t.actor AND t.events < @most_events::bigint AND NOT t.stored
    RETURNING signal_id
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, event_id, at)
    SELECT 'signal.event', t.market_id, t.user_id, t.id, @id::uuid, @now::timestamptz
    FROM added AS a JOIN target AS t ON t.id = a.signal_id
), woken AS (
    SELECT pg_notify('sc_outbox', '') FROM added
)
SELECT (EXISTS (SELECT FROM caller))::boolean AS known, (EXISTS (SELECT FROM target))::boolean AS found,
    coalesce((SELECT t.user_id = t.actor FROM target AS t), false)::boolean AS owner,
    (EXISTS (SELECT FROM added) OR coalesce((SELECT t.stored FROM target AS t), false))::boolean AS stored,
    (SELECT count(*) FROM woken) AS woken,
    (SELECT e.same FROM earlier AS e)::bool AS same, (SELECT e.created_at FROM earlier AS e)::pg_catalog.timestamptz AS stored_at;

-- name: LockMarketsForCalls :exec
-- Waits for the given markets and locks them for calls, in the order in which all statements lock markets. The filing
-- statements skip locked markets; after this statement they find the markets unlocked in the same transaction.
SELECT market_id FROM markets WHERE market_id = ANY (@market_ids::text[]) ORDER BY market_id FOR SHARE;

-- name: FindFirstSignals :many
-- Returns for each rejected call the first call of the caller, or of a deleted account of the same person, on the market, and
-- whether the given idempotency key belongs to that call. It runs after the filing statement has waited for its locks and therefore sees the calls that were
-- committed during the wait.
SELECT i.n::bigint AS n, s.id, (s.id = i.id OR coalesce(k.body_hash = i.body_hash, false))::boolean AS same
FROM unnest(@market_ids::text[], @user_ids::uuid[], @ids::uuid[], @idem_keys::pg_catalog.text[], @body_hashes::bytea[])
    WITH ORDINALITY AS i (market_id, user_id, id, idem_key, body_hash, n)
CROSS JOIN LATERAL (SELECT ARRAY(SELECT i.user_id UNION ALL SELECT f.former_id FROM former_accounts AS f WHERE f.user_id = i.user_id) AS accounts) AS p
CROSS JOIN LATERAL (
    SELECT c.id, c.user_id FROM (
        SELECT a.id, a.user_id, false AS unconfirmed FROM signals AS a WHERE a.market_id = i.market_id AND a.user_id = ANY (p.accounts)
        UNION ALL
        SELECT w.signal_id, w.user_id, true FROM unconfirmed_signals AS w WHERE w.market_id = i.market_id
            AND w.user_id = ANY (p.accounts)
    ) AS c ORDER BY c.unconfirmed LIMIT 1
) AS s
LEFT JOIN idempotency_keys AS k ON k.user_id = s.user_id AND k.key = i.idem_key AND k.result_id = s.id;

-- name: ListStoredPrices :many
-- Returns the prices of calls as they were stored at filing. The prices of both sides come from the quote stored with
-- the call, those of a native market from the price of the crowd at the call.
SELECT s.id, s.price_bps, s.score_basis_bps, s.price_verified, s.rated, s.market_yes_bps,
    coalesce(r.yes_price_bps, CASE WHEN m.provider = 'manual' THEN greatest(s.market_yes_bps,
        m.initial_yes_bps) END)::int4 AS yes_price_bps,
    coalesce(r.no_price_bps, CASE WHEN m.provider = 'manual' THEN 10000 - least(s.market_yes_bps,
        m.initial_yes_bps) END)::int4 AS no_price_bps
FROM signals AS s
LEFT JOIN quotes AS r ON r.market_id = s.market_id AND r.at = s.quote_at
LEFT JOIN markets AS m ON m.market_id = s.market_id
WHERE s.id = ANY (@ids::uuid[])
UNION ALL
SELECT w.signal_id, w.price_bps, w.price_bps, false, false, NULL, NULL, NULL
FROM unconfirmed_signals AS w WHERE w.signal_id = ANY (@ids::uuid[]);

-- name: DeleteOldIdempotencyKeys :exec
-- Deletes idempotency keys that are older than a day.
DELETE FROM idempotency_keys WHERE created_at < sqlc.arg(now)::timestamptz - interval '24 hours';

-- name: GetMarketTotals :one
-- Returns the counters of the calls on a market.
SELECT yes, no, crowd_yes, crowd_no FROM market_totals WHERE market_id = @market_id;

-- name: ListCallers :many
-- Returns the operators with a call on a market, by id, after the operator @after.
SELECT user_id FROM signals WHERE market_id = @market_id AND user_id > @after ORDER BY user_id LIMIT sqlc.arg('limit');

-- name: ListCallTotals :many
-- Returns the number of calls of each operator that has calls.
SELECT user_id, total FROM operator_totals WHERE user_id = ANY (@user_ids::uuid[]);

-- name: ListClosingMarkets :many
-- Returns the calls of operators on open markets that close after @now and not after @before, and the given markets that do, without
-- an operator.
WITH closing AS MATERIALIZED (
    SELECT m.market_id FROM markets AS m
    WHERE m.status = 'open' AND m.end_date > sqlc.arg(now)::timestamptz AND m.end_date <= sqlc.arg(before)::timestamptz
)
SELECT c.market_id, s.user_id::text AS operator_id
FROM closing AS c JOIN signals AS s ON s.market_id = c.market_id AND s.user_id = ANY (@user_ids::uuid[])
UNION ALL
SELECT c.market_id, '' FROM closing AS c WHERE c.market_id = ANY (@market_ids::text[]);

-- name: GetTopCut :one
-- Returns the last operator of the top quartile among those with at least ten counted calls, by mean points and then by
-- counted calls.
WITH ranked AS MATERIALIZED (
    SELECT c.user_id, c.score::double precision / c.counted AS mean, c.counted
    FROM operator_scores AS c JOIN users AS u ON u.id = c.user_id AND u.crowd
    WHERE c.counted >= 10
)
SELECT mean::double precision AS mean, counted, user_id FROM ranked
ORDER BY ranked.mean DESC, ranked.counted DESC, ranked.user_id DESC
OFFSET greatest(0, ceil((SELECT count(*) FROM ranked) / 4.0)::bigint - 1) LIMIT 1;

-- name: CountTopCrowd :one
-- Counts the sides of the top forecasters on a market, down to and including the cut. Each is read by key, because
-- their number is unknown when the statement is planned.
SELECT count(*) FILTER (WHERE s.yes) AS yes, count(*) AS n
FROM signals AS s
CROSS JOIN LATERAL (
    SELECT c.user_id FROM operator_scores AS c
    WHERE c.user_id = s.user_id AND c.counted >= 10
        AND (c.score::double precision / c.counted, c.counted, c.user_id) >= (@mean::double precision, @counted::bigint,
            @cut_user::uuid)
    LIMIT 1) AS c
CROSS JOIN LATERAL (SELECT id FROM users WHERE id = c.user_id AND crowd LIMIT 1) AS u
WHERE s.market_id = @market_id;

-- name: CountUnconfirmedSignals :one
-- Counts the calls of an operator that wait until a venue confirms the market.
SELECT count(*) FROM unconfirmed_signals WHERE user_id = @user_id AND denied_at IS NULL;

-- name: DenyUnconfirmedSignals :execrows
-- Voids unconfirmed calls and deletes their text: calls on the given markets, and calls filed before @before.
UPDATE unconfirmed_signals SET denied_at = @now::timestamptz, text_take = NULL, channel_id = NULL, media_asset_id = NULL
WHERE denied_at IS NULL AND (market_id = ANY (@market_ids::text[]) OR created_at < @before);

-- name: PublishUnconfirmedSignals :exec
-- Publishes the calls on markets that have a new answer of their venue.
SELECT publish_signals(@market_ids::text[], @now::timestamptz)
WHERE EXISTS (SELECT FROM unconfirmed_signals WHERE market_id = ANY (@market_ids::text[]) AND denied_at IS NULL);

-- name: ClaimUnconfirmedMarkets :many
-- Returns the markets with unconfirmed calls that have the oldest requests, not later than @before, and marks them as
-- requested.
WITH due AS (
    SELECT d.market_id FROM unconfirmed_signals AS d
    WHERE d.denied_at IS NULL
    GROUP BY d.market_id
    HAVING coalesce(max(d.asked_at), '-infinity') <= @before::timestamptz
    ORDER BY max(d.asked_at) NULLS FIRST, d.market_id
    LIMIT sqlc.arg('limit')
), asked AS (
    UPDATE unconfirmed_signals AS w SET asked_at = @now::timestamptz FROM due AS d WHERE w.market_id = d.market_id
        AND w.denied_at IS NULL
)
SELECT market_id FROM due;
