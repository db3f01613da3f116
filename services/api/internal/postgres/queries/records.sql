-- name: GetRecord :one
-- Returns the counters of one operator's record, with the best call.
SELECT coalesce(t.total, 0)::bigint AS total, coalesce(c.won, 0)::bigint AS won, coalesce(c.lost, 0)::bigint AS lost,
    coalesce(c.void, 0)::bigint AS void, coalesce(c.score, 0)::bigint AS score, coalesce(c.streak, 0)::bigint AS streak,
    coalesce(c.clv_sum, 0)::bigint AS clv_sum, coalesce(c.clv_count, 0)::bigint AS clv_count,
    c.best_bps, c.best_signal, s.market_id, shown_title(s.market_id, s.market_title)::pg_catalog.text AS market_title
FROM (SELECT @user_id::uuid AS id) AS u
LEFT JOIN operator_totals AS t ON t.user_id = u.id
LEFT JOIN operator_scores AS c ON c.user_id = u.id
LEFT JOIN signals AS s ON s.id = c.best_signal;

-- name: CountSignalsOfOperator :one
-- Returns the counters of one operator, and zeros for an operator without a call.
SELECT coalesce((SELECT t.total FROM operator_totals AS t WHERE t.user_id = @user_id::uuid), 0)::bigint AS total,
    coalesce(s.won, 0)::bigint AS won, coalesce(s.lost, 0)::bigint AS lost, coalesce(s.void, 0)::bigint AS void,
    coalesce(s.score, 0)::bigint AS score
FROM (SELECT @user_id::uuid AS user_id) AS u LEFT JOIN operator_scores AS s ON s.user_id = u.user_id;

-- name: GetRank :one
-- Returns the rank of an operator in the field of operators with a counted call, the size of the field, and the
-- broadcast score. @month is the start of the 28 days. Stored rows are counted by points; operators with changes since
-- the last fold are counted with their present values. New accounts are left out as by ListBoard.
WITH unlisted AS MATERIALIZED (
    SELECT a.user_id FROM former_accounts AS a WHERE a.erased_at > sqlc.arg(month)::timestamptz - interval '62 days'
), fresh AS MATERIALIZED (
    SELECT f.user_id, f.tier, f.handle COLLATE "C" AS handle, f.score, f.counted, f.won + f.lost AS resolved, f.cast_all,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy
    FROM board_fresh('', greatest(@month::timestamptz, (SELECT b.since FROM board_state AS b)), NULL)
        AS f (user_id, lane, tier, handle, score, won, lost, void, total,
        calls, takes, month_score, month_done, cast_all, cast_month, counted)
), own AS (
    SELECT o.tier, o.handle, o.score, o.counted, o.resolved, o.accuracy, o.cast_all FROM fresh AS o
        WHERE o.user_id = @user_id::uuid
    UNION ALL
    SELECT b.tier, b.handle, b.score, b.counted, b.resolved, b.accuracy, b.cast_all FROM board_rows AS b
    WHERE b.user_id = @user_id::uuid AND b.lane = '' AND NOT EXISTS (SELECT FROM fresh AS o WHERE o.user_id = @user_id::uuid)
), moved AS (
    -- Each changed operator with its present values (1) and with its stored ones (-1), if these are in the field. New accounts
    -- that are left out only have stored ones.
    SELECT 1 AS n, f.tier, f.handle, f.score, f.resolved, f.accuracy FROM fresh AS f WHERE f.tier <> 'automated' AND f.counted > 0
        AND f.user_id NOT IN (SELECT x.user_id FROM unlisted AS x)
    UNION ALL
    SELECT -1, b.tier, b.handle, b.score, b.resolved, b.accuracy
    FROM (SELECT n.user_id FROM fresh AS n UNION SELECT x.user_id FROM unlisted AS x) AS f CROSS JOIN LATERAL (
        SELECT tier, handle, score, counted, resolved, accuracy FROM board_rows WHERE user_id = f.user_id
            AND lane = '' LIMIT 1) AS b
    WHERE b.tier <> 'automated' AND b.counted > 0
)
SELECT
    (CASE WHEN o.tier <> 'automated' AND o.counted > 0 AND @user_id::uuid NOT IN (SELECT x.user_id FROM unlisted AS x) THEN 1
        + coalesce((SELECT sum(f.operators) FROM board_field AS f WHERE f.tier <> 'automated' AND f.score > o.score), 0)
        + (SELECT count(*) FROM board_rows AS b
            WHERE b.lane = '' AND b.tier IN ('independent', 'house') AND b.score = o.score AND b.counted > 0
                AND (b.resolved, b.accuracy) >= (o.resolved, o.accuracy)
                AND ((b.resolved, b.accuracy) > (o.resolved, o.accuracy) OR b.handle < o.handle))
        + coalesce((SELECT sum(m.n) FROM moved AS m
            WHERE m.score > o.score OR m.score = o.score AND ((m.resolved, m.accuracy) > (o.resolved, o.accuracy)
                OR m.resolved = o.resolved AND m.accuracy = o.accuracy AND m.handle < o.handle)), 0)
    END)::int8 AS rank,
    (coalesce((SELECT sum(f.operators) FROM board_field AS f WHERE f.tier <> 'automated'), 0)
        + coalesce((SELECT sum(m.n) FROM moved AS m), 0))::bigint AS field,
    coalesce(o.cast_all, board_cast(0, 0, 0, 0, (
        SELECT coalesce(sum(v.viewer_seconds), 0)::bigint / 60 FROM viewer_reports AS v
        WHERE v.user_id = @user_id::uuid AND v.at >= @month::timestamptz)::bigint))::integer AS broadcast
FROM (SELECT) AS one LEFT JOIN own AS o ON true;

-- name: ListRanked :many
-- Returns the first operators of the ranked field: the first stored rows of each tier that are up to date, and the
-- operators with changes since the last fold. New accounts are left out as by ListBoard.
WITH fresh AS MATERIALIZED (
    SELECT f.user_id, f.tier, f.handle COLLATE "C" AS handle, f.score, f.total, f.counted, f.won + f.lost AS resolved,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy
    FROM board_fresh('', greatest(@month::timestamptz, (SELECT b.since FROM board_state AS b)), NULL)
        AS f (user_id, lane, tier, handle, score, won, lost, void, total,
        calls, takes, month_score, month_done, cast_all, cast_month, counted)
), unlisted AS MATERIALIZED (
    SELECT a.user_id FROM former_accounts AS a WHERE a.erased_at > sqlc.arg(month)::timestamptz - interval '62 days'
), top AS (
    SELECT r.user_id, r.score, r.total, r.resolved, r.accuracy, r.handle
    FROM (
        SELECT k.user_id, k.score, k.total, k.resolved, k.accuracy, k.handle
        FROM unnest(ARRAY['independent', 'house']) AS t (tier)
        CROSS JOIN LATERAL (
            SELECT b.user_id, b.score, b.total, b.resolved, b.accuracy, b.handle
            FROM board_rows AS b
            WHERE b.lane = '' AND b.tier = t.tier AND b.counted > 0 AND b.user_id NOT IN (SELECT n.user_id FROM fresh AS n)
                AND b.user_id NOT IN (SELECT x.user_id FROM unlisted AS x)
            ORDER BY b.score DESC, b.resolved DESC, b.accuracy DESC, b.handle
            LIMIT sqlc.arg('limit')
        ) AS k
        UNION ALL
        SELECT n.user_id, n.score, n.total, n.resolved, n.accuracy, n.handle FROM fresh AS n WHERE n.tier <> 'automated'
            AND n.counted > 0 AND n.user_id NOT IN (SELECT x.user_id FROM unlisted AS x)
    ) AS r
    ORDER BY r.score DESC, r.resolved DESC, r.accuracy DESC, r.handle
    LIMIT sqlc.arg('limit')
)
SELECT sqlc.embed(u), r.total::bigint AS total, c.won, c.lost, c.void, c.score, c.streak, c.clv_sum, c.clv_count
FROM top AS r
JOIN users AS u ON u.id = r.user_id
JOIN operator_scores AS c ON c.user_id = r.user_id
ORDER BY r.score DESC, r.resolved DESC, r.accuracy DESC, r.handle;

-- name: ListRecentSignalsOfOperator :many
-- Returns the newest calls of an operator.
SELECT v.* FROM signal_records AS v WHERE v.user_id = @user_id ORDER BY v.created_at DESC,
    v.id DESC LIMIT sqlc.arg('limit');

-- name: ListMoments :many
-- Returns the newest calls that an operator won at long odds.
SELECT m.id, m.tier, m.signal_id, m.market_id, shown_title(s.market_id, s.market_title)::text AS market_title, s.yes, m.odds_bps,
    m.score, m.minted_at
FROM moments AS m JOIN signals AS s ON s.id = m.signal_id
WHERE m.user_id = @user_id AND EXISTS (SELECT FROM signal_results AS r WHERE r.signal_id = m.signal_id AND r.counted)
ORDER BY m.minted_at DESC, m.signal_id DESC LIMIT sqlc.arg('limit');

-- name: ListTallies :many
-- Returns the counted calls of an operator on venue markets by lane, price and confidence.
SELECT lane, price_bps, confidence, calls, wins FROM operator_tallies WHERE user_id = @user_id
ORDER BY lane, price_bps, confidence;

-- name: ListTalliesSince :many
-- Like ListTallies for the results since a time. They come from the feed, which contains 90 days.
SELECT coalesce(e.lane, '')::text AS lane, within_price(c.basis)::integer AS price_bps, coalesce(c.confidence,
    0)::integer AS confidence,
    count(*) AS calls, count(*) FILTER (WHERE c.status = 'won') AS wins
FROM protocol_events AS e
CROSS JOIN LATERAL (
    SELECT basis, confidence, status FROM counted_results WHERE id = e.signal_id AND venue_market LIMIT 1) AS c
WHERE e.user_id = @user_id AND e.at >= @since AND e.type = 'signal.resolved' AND e.data ->> 'status' <> 'void'
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;

-- name: ListScoreSteps :many
-- Returns the points of an operator over its newest @most calls in at most @steps steps of counted calls. Each step has
-- its end time, its points, its number of calls and the variance of a coin at their scoring prices p: the sum of
-- p (10000 - p). score_now is the present sum of points. whole is true if there are
-- no older calls.
WITH calls AS MATERIALIZED (
    SELECT s.id, s.score_basis_bps FROM signals AS s WHERE s.user_id = @user_id::uuid
    ORDER BY s.created_at DESC, s.id DESC LIMIT @most::bigint
), parts AS (
    SELECT r.resolved_at, r.score, within_price(coalesce(r.basis_bps, c.score_basis_bps))::bigint AS price, ntile(@steps::integer) OVER (ORDER BY r.resolved_at, c.id) AS part
    FROM calls AS c
    CROSS JOIN LATERAL (SELECT resolved_at, score, counted, basis_bps FROM signal_results WHERE signal_id = c.id LIMIT 1) AS r
    WHERE r.counted
)
SELECT max(p.resolved_at)::timestamptz AS ended_at, sum(p.score)::bigint AS score, count(*) AS calls,
    sum(p.price * (10000 - p.price))::bigint AS variance,
    coalesce((SELECT o.score FROM operator_scores AS o WHERE o.user_id = @user_id::uuid), 0)::bigint AS score_now,
    ((SELECT count(*) FROM calls) < @most::bigint)::boolean AS whole
FROM parts AS p GROUP BY p.part ORDER BY p.part;

-- name: ListLaneStats :many
-- Returns the statistics of one operator by lane. The lane is that of the claim, or the present lane of a market
-- without a claim. Points and streak include counted calls, the closing line value counted calls on venue markets.
WITH called AS (
    SELECT coalesce(r.scoring_vertical, m.lane, 'OTHER') AS lane, s.id, s.created_at, r.status, r.score, r.resolved_at,
        coalesce(r.counted, false) AS counted,
        CASE WHEN r.counted AND s.market_id NOT LIKE 'native-%' THEN r.clv_bps END AS clv_bps
    FROM signals AS s
    -- By key, row by row: the number of calls is unknown when the statement is planned.
    LEFT JOIN LATERAL (
        SELECT status, score, clv_bps, scoring_vertical, resolved_at, counted FROM signal_results
            WHERE signal_id = s.id LIMIT 1) AS r ON true
    LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id AND r.status IS NULL LIMIT 1) AS m ON true
    WHERE s.user_id = @user_id
), run AS (
    SELECT c.lane, c.status, c.score, c.clv_bps, c.counted,
        count(*) FILTER (WHERE c.counted AND c.status = 'lost')
            OVER (PARTITION BY c.lane ORDER BY c.resolved_at DESC NULLS FIRST, c.created_at DESC, c.id DESC) AS losses
    FROM called AS c
)
SELECT run.lane::text AS lane, count(*) AS total, count(*) FILTER (WHERE run.status = 'won') AS won,
    count(*) FILTER (WHERE run.status = 'lost') AS lost, count(*) FILTER (WHERE run.status = 'void') AS void,
    coalesce(sum(run.score) FILTER (WHERE run.counted), 0)::bigint AS score,
    count(*) FILTER (WHERE run.counted AND run.status = 'won' AND run.losses = 0) AS streak,
    coalesce(sum(run.clv_bps), 0)::bigint AS clv_sum, count(run.clv_bps) AS clv_count
FROM run GROUP BY run.lane ORDER BY run.lane;

-- name: FillRecords :one
-- Recomputes the records of the next @most operators after an id (null: from the first). Returns the last id, or null
-- after the last operator.
SELECT fill_records(sqlc.narg(after)::uuid, @most::integer)::pg_catalog.uuid AS last;

-- name: FillBoards :one
-- Recomputes the board rows of the next @most operators after an id (null: from the first). Returns the last id, or
-- null after the last operator.
SELECT fill_boards(sqlc.narg(after)::uuid, @most::integer)::pg_catalog.uuid AS last;
