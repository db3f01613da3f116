-- name: GetExportedOperator :one
-- Returns the operator whose record is exported.
SELECT id, public_id, handle, display_name, operator_type, tier FROM users WHERE handle = lower(@handle::text);

-- name: ListExportedCalls :many
-- Returns published calls of an operator after a position and up to @as_of, oldest first, in their state at @as_of:
-- later claims are omitted. The rows include the facts from which the scoring price and the count follow: the quote of
-- the call, its second quote, whether the operator created the market, and the initial price of a native market.
SELECT sqlc.embed(r), coalesce(x.status, 'pending')::text AS status,
    x.score, x.resolved_at, x.outcome, x.close_price, x.clv_bps, coalesce(x.basis_bps, r.score_basis_bps)::integer AS scored_bps,
    x.counted, x.confirmed_at, x.reason,
    coalesce(x.scoring_version, '')::text AS version, coalesce(x.scoring_vertical, '')::text AS vertical, m.initial_yes_bps,
    (m.created_by IS NOT DISTINCT FROM r.user_id::text)::boolean AS own_market,
    q.yes_price_bps AS quote_yes, q.no_price_bps AS quote_no, q.rule AS quote_rule, q.answer_sha256 AS quote_sha256,
    k.yes_price_bps AS second_yes, k.no_price_bps AS second_no, k.rule AS second_rule, k.answer_sha256 AS second_sha256,
    c.outcome AS claimed, c.resolver, c.source AS claim_source, c.proof_url, c.close_at, c.close_price AS claim_close,
    c.resolved_at AS claimed_at, c.rated AS claim_rated, c.decided_at, coalesce(d.disputed, false)::boolean AS disputed
FROM (
    SELECT f.id, f.market_id, f.created_at FROM signals AS f
    WHERE f.user_id = @user_id AND (f.created_at, f.id) > (@after_at::timestamptz, @after_id::uuid)
        AND f.created_at <= @as_of::timestamptz
    ORDER BY f.created_at, f.id LIMIT sqlc.arg('limit')
) AS s
JOIN signal_records AS r ON r.id = s.id
LEFT JOIN signal_results AS x ON x.signal_id = s.id AND x.resolved_at <= @as_of::timestamptz
LEFT JOIN market_resolutions AS c ON c.market_id = s.market_id AND c.resolved_at <= @as_of::timestamptz
LEFT JOIN market_disputes AS d ON d.market_id = s.market_id
LEFT JOIN markets AS m ON m.market_id = s.market_id
LEFT JOIN quotes AS q ON q.market_id = s.market_id AND q.at = r.quote_at
LEFT JOIN quotes AS k ON k.market_id = s.market_id AND k.at = x.confirmed_at
ORDER BY s.created_at, s.id;

-- name: ListTolerances :many
-- Returns the history of the price tolerance, oldest first.
SELECT since, bps FROM price_tolerances ORDER BY since;

-- name: LockTolerances :exec
-- Serializes processes that add a price tolerance to the history.
SELECT pg_advisory_xact_lock(7201017);

-- name: AddTolerance :exec
-- Adds the price tolerance of a time to the history if it differs from the last one. The first entry starts at the
-- epoch.
INSERT INTO price_tolerances (since, bps)
SELECT CASE WHEN l.since IS NULL THEN 'epoch' ELSE greatest(@now::timestamptz, l.since + interval '1 millisecond') END,
    @bps::integer
FROM (SELECT 1) AS one
LEFT JOIN (SELECT t.since, t.bps FROM price_tolerances AS t ORDER BY t.since DESC LIMIT 1) AS l ON true
WHERE l.bps IS DISTINCT FROM @bps::integer;

-- name: CountDay :one
-- Returns the counts of a time window. Results are found through the claims, because a result has the time of its
-- claim.
SELECT (SELECT count(*) FROM signals AS a WHERE a.created_at >= @since::timestamptz
    AND a.created_at < @until::timestamptz) AS signals,
    r.won, r.lost, r.void,
    (SELECT count(*) FROM users AS u WHERE u.created_at >= @since::timestamptz
        AND u.created_at < @until::timestamptz) AS operators
FROM (
    SELECT count(*) FILTER (WHERE x.status = 'won') AS won, count(*) FILTER (WHERE x.status = 'lost') AS lost,
        count(*) FILTER (WHERE x.status = 'void') AS void
    FROM market_resolutions AS m
    JOIN signals AS s ON s.market_id = m.market_id
    JOIN signal_results AS x ON x.signal_id = s.id
    WHERE m.resolved_at >= @since::timestamptz AND m.resolved_at < @until::timestamptz
) AS r;

-- name: CountPulseOfDay :one
-- Counts the calls of independent operators in the seven days before @until, in the seven days before those, and in the
-- week that starts at @week.
SELECT
    count(*) FILTER (WHERE s.created_at >= sqlc.arg(until)::timestamptz - interval '168 hours'
        AND s.created_at < sqlc.arg(until)::timestamptz) AS last7,
    count(*) FILTER (WHERE s.created_at >= sqlc.arg(until)::timestamptz - interval '336 hours'
        AND s.created_at < sqlc.arg(until)::timestamptz - interval '168 hours') AS prev7,
    count(*) FILTER (WHERE s.created_at >= sqlc.arg(week)::timestamptz
        AND s.created_at < sqlc.arg(week)::timestamptz + interval '168 hours') AS week_signals,
    count(DISTINCT s.user_id) FILTER (WHERE s.created_at >= sqlc.arg(week)::timestamptz
        AND s.created_at < sqlc.arg(week)::timestamptz + interval '168 hours') AS week_operators
FROM signals AS s
JOIN users AS u ON u.id = s.user_id AND u.tier = 'independent'
WHERE s.created_at >= least(sqlc.arg(until)::timestamptz - interval '336 hours', sqlc.arg(week)::timestamptz)
    AND s.created_at < sqlc.arg(until)::timestamptz;

-- name: ListTopCalls :many
-- Returns the best counted calls that were resolved in a time window.
SELECT s.id, u.handle, shown_title(s.market_id, s.market_title)::text AS market_title, s.yes,
    coalesce(r.basis_bps, s.score_basis_bps)::integer AS odds, r.score
FROM market_resolutions AS m
JOIN signals AS s ON s.market_id = m.market_id
JOIN signal_results AS r ON r.signal_id = s.id AND r.status = 'won' AND r.counted
JOIN users AS u ON u.id = s.user_id AND u.tier IN ('independent', 'house')
WHERE m.resolved_at >= @since::timestamptz AND m.resolved_at < @until::timestamptz
ORDER BY r.score DESC, 5, s.id
LIMIT sqlc.arg('limit');

-- name: ListPersonalRows :many
-- Returns rows of a section of an account after a key, in the order of the keys. The last key is found first, so that only the
-- objects of the returned rows are built.
WITH page AS (
    SELECT k.key FROM personal_rows AS k
    WHERE k.section = @section AND (k.user_id IS NOT NULL AND k.user_id = @user_id::uuid
        OR k.subject IS NOT NULL AND k.subject = sqlc.arg(user_id)::text) AND k.key > @after
    ORDER BY k.key LIMIT sqlc.arg('limit')
)
SELECT p.key, p.data FROM personal_rows AS p
WHERE p.section = @section AND (p.user_id IS NOT NULL AND p.user_id = @user_id::uuid
        OR p.subject IS NOT NULL AND p.subject = sqlc.arg(user_id)::text) AND p.key > @after AND p.key <= (SELECT max(key)::text FROM page)
ORDER BY p.key;
