-- name: ListBoard :many
-- Returns the first operators of a board.
-- @by selects the order. scores: points, then resolved calls, then accuracy. broadcast: broadcast score, then points,
-- then resolved calls. broadcast28: the same with the broadcast score of 28 days. The handle is the last key. @lane ''
-- is the whole record. @month is the start of the 28 days.
-- The statement reads the first stored rows of each tier that are up to date, and computes the rows of operators with
-- changes since. In a lane it adds operators with only open calls there: no row is stored for them, and their activity
-- is that of the whole board. Of the three parts with stored rows, each ordered by its index, only the one that @by
-- selects is executed. A new account of a person whose account was deleted is left out for 90 days after the deletion.
WITH unlisted AS MATERIALIZED (
    SELECT a.user_id FROM former_accounts AS a WHERE a.erased_at > sqlc.arg(month)::timestamptz - interval '62 days'
), moved AS MATERIALIZED (
    SELECT f.user_id, f.lane, f.tier, f.handle COLLATE "C" AS handle, f.score, f.won, f.lost, f.void, f.total,
        f.won + f.lost AS resolved,
        CASE WHEN f.won + f.lost = 0 THEN 0 ELSE (200 * f.won + f.won + f.lost) / (2 * (f.won + f.lost)) END AS accuracy,
        f.calls, f.takes, f.month_score, f.month_done, f.cast_all, f.cast_month, f.viewer_minutes
    FROM board_fresh(CASE WHEN @lane::text = '' THEN '' END, greatest(@month::timestamptz, (SELECT b.since
        FROM board_state AS b)), NULL)
        AS f (user_id, lane, tier, handle, score, won, lost, void, total,
        calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes)
    WHERE f.lane IN ('', @lane::text)
), fresh AS (
    SELECT m.user_id, m.tier, m.handle, m.score, m.won, m.lost, m.void, m.total, m.resolved, m.accuracy, m.calls, m.takes,
        m.month_score, m.month_done, m.cast_all, m.cast_month, m.viewer_minutes
    FROM moved AS m WHERE m.lane = @lane::text AND m.user_id NOT IN (SELECT x.user_id FROM unlisted AS x)
), left_out AS (
    SELECT n.user_id FROM fresh AS n UNION ALL SELECT x.user_id FROM unlisted AS x
), waiting AS MATERIALIZED (
    SELECT w.user_id, r.total, r.handle, r.calls, r.takes, r.viewer_minutes,
        board_cast(0, 0, r.calls, r.takes, r.viewer_minutes) AS cast_open
    FROM (
        SELECT DISTINCT s.user_id
        FROM open_signals AS o
        JOIN markets AS m ON m.market_id = o.market_id AND m.lane = @lane::text
        JOIN signals AS s ON s.id = o.signal_id
        WHERE @lane::text <> '' AND NOT EXISTS (SELECT FROM signal_results AS x WHERE x.signal_id = s.id)
    ) AS w
    CROSS JOIN LATERAL (
        SELECT m.tier, m.handle, m.total, m.calls, m.takes, m.viewer_minutes
        FROM moved AS m WHERE m.user_id = w.user_id AND m.lane = ''
        UNION ALL
        SELECT b.tier, b.handle, b.total, b.calls, b.takes, b.viewer_minutes FROM board_rows AS b
        WHERE b.user_id = w.user_id AND b.lane = '' AND b.user_id NOT IN (SELECT m.user_id FROM moved AS m WHERE m.lane = '')
    ) AS r
    WHERE r.tier = ANY (@tiers::text[]) AND w.user_id NOT IN (SELECT n.user_id FROM left_out AS n)
        AND NOT EXISTS (SELECT FROM board_rows AS b WHERE b.user_id = w.user_id AND b.lane = @lane::text)
), ranked AS (
        SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.accuracy, k.handle, k.calls, k.takes,
            k.month_score, k.month_done, k.cast_all, k.cast_month, k.skill_calls, k.edge_bps, k.low_bps, k.high_bps,
            k.viewer_minutes
        FROM unnest(@tiers::text[]) AS t (tier)
        CROSS JOIN LATERAL (
            SELECT b.user_id, b.score, b.won, b.lost, b.void, b.total, b.resolved, b.accuracy, b.handle, b.calls, b.takes,
                b.month_score, b.month_done, b.cast_all, b.cast_month, b.skill_calls, b.edge_bps, b.low_bps, b.high_bps,
                b.viewer_minutes
            FROM board_rows AS b
            WHERE @by::text = 'scores' AND b.lane = @lane::text AND b.tier = t.tier AND b.user_id NOT IN (SELECT n.user_id
                FROM left_out AS n)
            ORDER BY b.score DESC, b.resolved DESC, b.accuracy DESC, b.handle
            LIMIT sqlc.arg('limit')
        ) AS k
        UNION ALL
        SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.accuracy, k.handle, k.calls, k.takes,
            k.month_score, k.month_done, k.cast_all, k.cast_month, k.skill_calls, k.edge_bps, k.low_bps, k.high_bps,
            k.viewer_minutes
        FROM unnest(@tiers::text[]) AS t (tier)
        CROSS JOIN LATERAL (
            SELECT b.user_id, b.score, b.won, b.lost, b.void, b.total, b.resolved, b.accuracy, b.handle, b.calls, b.takes,
                b.month_score, b.month_done, b.cast_all, b.cast_month, b.skill_calls, b.edge_bps, b.low_bps, b.high_bps,
                b.viewer_minutes
            FROM board_rows AS b
            WHERE @by::text = 'broadcast' AND b.lane = @lane::text AND b.tier = t.tier AND b.user_id NOT IN (SELECT n.user_id
                FROM left_out AS n)
            ORDER BY b.cast_all DESC, b.score DESC, b.resolved DESC, b.handle
            LIMIT sqlc.arg('limit')
        ) AS k
        UNION ALL
        SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.accuracy, k.handle, k.calls, k.takes,
            k.month_score, k.month_done, k.cast_all, k.cast_month, k.skill_calls, k.edge_bps, k.low_bps, k.high_bps,
            k.viewer_minutes
        FROM unnest(@tiers::text[]) AS t (tier)
        CROSS JOIN LATERAL (
            SELECT b.user_id, b.score, b.won, b.lost, b.void, b.total, b.resolved, b.accuracy, b.handle, b.calls, b.takes,
                b.month_score, b.month_done, b.cast_all, b.cast_month, b.skill_calls, b.edge_bps, b.low_bps, b.high_bps,
                b.viewer_minutes
            FROM board_rows AS b
            WHERE @by::text = 'broadcast28' AND b.lane = @lane::text AND b.tier = t.tier AND b.user_id NOT IN (SELECT n.user_id
                FROM left_out AS n)
            ORDER BY b.cast_month DESC, b.score DESC, b.resolved DESC, b.handle
            LIMIT sqlc.arg('limit')
        ) AS k
        UNION ALL
        SELECT n.user_id, n.score, n.won, n.lost, n.void, n.total, n.resolved, n.accuracy, n.handle, n.calls, n.takes,
            n.month_score, n.month_done, n.cast_all, n.cast_month, k.skill_calls, k.edge_bps, k.low_bps, k.high_bps,
            n.viewer_minutes
        FROM fresh AS n
        LEFT JOIN LATERAL (
            SELECT b.skill_calls, b.edge_bps, b.low_bps, b.high_bps FROM board_rows AS b
            WHERE b.user_id = n.user_id AND b.lane = @lane::text LIMIT 1) AS k ON true
        WHERE n.tier = ANY (@tiers::text[])
        UNION ALL
        SELECT w.user_id, 0, 0, 0, 0, w.total, 0, 0, w.handle, w.calls, w.takes, 0, 0, w.cast_open, w.cast_open, NULL, NULL,
            NULL, NULL, w.viewer_minutes
        FROM waiting AS w
), top AS (
    SELECT r.user_id, r.score, r.won, r.lost, r.void, r.total, r.handle, r.calls, r.takes, r.skill_calls, r.edge_bps,
        r.low_bps, r.high_bps, r.viewer_minutes,
        CASE @by::text WHEN 'broadcast28' THEN r.cast_month ELSE r.cast_all END AS cast_score,
        CASE @by::text WHEN 'broadcast28' THEN r.month_score ELSE r.score END AS window_score,
        CASE @by::text WHEN 'broadcast28' THEN r.month_done ELSE r.resolved END AS window_done,
        o.first, o.second, o.third
    FROM ranked AS r
    CROSS JOIN LATERAL (SELECT
        CASE @by::text WHEN 'scores' THEN r.score WHEN 'broadcast28' THEN r.cast_month ELSE r.cast_all END AS first,
        CASE @by::text WHEN 'scores' THEN r.resolved ELSE r.score END AS second,
        CASE @by::text WHEN 'scores' THEN r.accuracy ELSE r.resolved END AS third) AS o
    ORDER BY o.first DESC, o.second DESC, o.third DESC, r.handle
    LIMIT sqlc.arg('limit')
)
SELECT sqlc.embed(u), r.score::bigint AS score, r.won::bigint AS won, r.lost::bigint AS lost, r.void::bigint AS void,
    (CASE WHEN @lane::text = '' THEN r.total ELSE r.won + r.lost + r.void + (
        -- Calls without a result are among the newest. The limit is the number of such calls.
        SELECT count(*) FROM (
            SELECT s.market_id FROM signals AS s
            WHERE s.user_id = u.id AND NOT EXISTS (SELECT FROM signal_results AS x WHERE x.signal_id = s.id)
            ORDER BY s.created_at DESC
            LIMIT greatest(0, r.total - (SELECT c.won + c.lost + c.void FROM operator_scores AS c WHERE c.user_id = u.id))) AS w
        JOIN markets AS m ON m.market_id = w.market_id AND m.lane = @lane::text) END)::bigint AS total,
    coalesce(r.skill_calls, 0)::bigint AS skill_calls, coalesce(r.edge_bps, 0)::integer AS edge_bps,
    coalesce(r.low_bps, 0)::integer AS low_bps, coalesce(r.high_bps, 0)::integer AS high_bps,
    r.cast_score::integer AS broadcast, r.calls::bigint AS calls, r.takes::bigint AS takes,
    r.window_score::bigint AS window_score, r.window_done::bigint AS window_done, r.viewer_minutes::bigint AS viewer_minutes
FROM top AS r JOIN users AS u ON u.id = r.user_id
ORDER BY r.first DESC, r.second DESC, r.third DESC, r.handle;

-- name: ListEdgeBoard :many
-- Returns the first operators by the lower bound of their edge. The rows are those of the last fold, which computes the
-- edge. @month is the start of the 28 days. New accounts are left out as by ListBoard.
WITH top AS (
    SELECT k.user_id, k.score, k.won, k.lost, k.void, k.total, k.resolved, k.handle, k.calls, k.takes, k.cast_all,
        k.skill_calls, k.edge_bps, k.low_bps, k.high_bps, k.viewer_minutes
    FROM unnest(@tiers::text[]) AS t (tier)
    CROSS JOIN LATERAL (
        SELECT b.user_id, b.score, b.won, b.lost, b.void, b.total, b.resolved, b.handle, b.calls, b.takes, b.cast_all,
            b.skill_calls, b.edge_bps, b.low_bps, b.high_bps, b.viewer_minutes
        FROM board_rows AS b
        WHERE b.lane = @lane::text AND b.tier = t.tier AND b.skill_calls > 0 AND b.user_id NOT IN (
            SELECT a.user_id FROM former_accounts AS a WHERE a.erased_at > sqlc.arg(month)::timestamptz - interval '62 days')
        ORDER BY b.low_bps DESC, b.edge_bps DESC, b.skill_calls DESC, b.handle
        LIMIT sqlc.arg('limit')
    ) AS k
    ORDER BY k.low_bps DESC, k.edge_bps DESC, k.skill_calls DESC, k.handle
    LIMIT sqlc.arg('limit')
)
SELECT sqlc.embed(u), r.score::bigint AS score, r.won::bigint AS won, r.lost::bigint AS lost, r.void::bigint AS void,
    (CASE WHEN @lane::text = '' THEN r.total ELSE r.won + r.lost + r.void + (
        -- Calls without a result are among the newest. The limit is the number of such calls.
        SELECT count(*) FROM (
            SELECT s.market_id FROM signals AS s
            WHERE s.user_id = u.id AND NOT EXISTS (SELECT FROM signal_results AS x WHERE x.signal_id = s.id)
            ORDER BY s.created_at DESC
            LIMIT greatest(0, (SELECT t.total FROM operator_totals AS t WHERE t.user_id = u.id)
                - (SELECT c.won + c.lost + c.void FROM operator_scores AS c WHERE c.user_id = u.id))) AS w
        JOIN markets AS m ON m.market_id = w.market_id AND m.lane = @lane::text) END)::bigint AS total,
    r.skill_calls::bigint AS skill_calls, r.edge_bps::integer AS edge_bps, r.low_bps::integer AS low_bps,
        r.high_bps::integer AS high_bps,
    r.cast_all::integer AS broadcast, r.calls::bigint AS calls, r.takes::bigint AS takes,
    r.score::bigint AS window_score, r.resolved::bigint AS window_done, r.viewer_minutes::bigint AS viewer_minutes
FROM top AS r JOIN users AS u ON u.id = r.user_id
ORDER BY r.low_bps DESC, r.edge_bps DESC, r.skill_calls DESC, r.handle;

-- name: LockBoards :one
-- Tries to lock the boards, so that only one process at a time folds feed events into the stored board rows. A change
-- of an operator's tier takes the same lock.
SELECT pg_try_advisory_xact_lock(7201002)::boolean AS locked;

-- name: PlanBoards :one
-- Returns the end of the next fold of feed events into the stored board rows. It is at most @most feed rows away, and at
-- most ten minutes after the next event that leaves the window. It is not after @month and not after a claim that is not
-- completely scored. done is true when nothing is left to fold.
SELECT p.seq::bigint AS seq, p.since::timestamptz AS since,
    (p.seq = h.seq AND p.since >= least(@month::timestamptz, p.held))::boolean AS done
FROM feed_head AS h
CROSS JOIN (
    SELECT least(g.seq, b.seq + sqlc.arg(most)::bigint) AS seq, d.held,
        greatest(b.since, least(@month::timestamptz, f.first + interval '10 minutes', d.held)) AS since
    FROM board_state AS b
    CROSS JOIN feed_head AS g
    CROSS JOIN LATERAL (
        SELECT least(
            (SELECT min(s.created_at) FROM signals AS s WHERE s.created_at >= b.since),
            (SELECT min(e.created_at) FROM signal_events AS e WHERE e.type = 'take' AND e.created_at >= b.since),
            (SELECT min(r.resolved_at) FROM market_resolutions AS r WHERE r.resolved_at >= b.since),
            (SELECT min(v.at) FROM viewer_reports AS v WHERE v.at >= b.since)) AS first
    ) AS f
    CROSS JOIN LATERAL (
        SELECT min(r.resolved_at) AS held FROM score_drains AS w JOIN market_resolutions AS r ON r.market_id = w.market_id
    ) AS d
) AS p;

-- name: FoldBoardRows :exec
-- Stores the board rows of the operators that have events in the feed up to @seq, new reports of viewers, or events that
-- leave the window by its move to @since. board_fresh reads the snapshot of this statement, so it sees the same new reports
-- as the deletion.
WITH reported AS (
    DELETE FROM board_viewers_due
)
INSERT INTO board_rows AS b (user_id, lane, tier, handle, score, won, lost, void, total,
    calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes)
SELECT f.user_id, f.lane, f.tier, f.handle, f.score, f.won, f.lost, f.void, f.total,
    f.calls, f.takes, f.month_score, f.month_done, f.cast_all, f.cast_month, f.counted, f.viewer_minutes
FROM board_fresh(NULL, @since::timestamptz, @seq::bigint) AS f (user_id, lane, tier, handle, score, won, lost, void, total,
    calls, takes, month_score, month_done, cast_all, cast_month, counted, viewer_minutes)
ON CONFLICT (user_id, lane) DO UPDATE SET
    tier = excluded.tier, handle = excluded.handle, score = excluded.score, won = excluded.won, lost = excluded.lost,
    void = excluded.void, total = excluded.total, calls = excluded.calls, takes = excluded.takes,
    month_score = excluded.month_score, month_done = excluded.month_done,
    cast_all = excluded.cast_all, cast_month = excluded.cast_month, counted = excluded.counted,
    viewer_minutes = excluded.viewer_minutes
WHERE (b.tier, b.handle, b.score, b.won, b.lost, b.void, b.total, b.calls, b.takes, b.month_score, b.month_done, b.counted,
        b.viewer_minutes)
    IS DISTINCT FROM (excluded.tier, excluded.handle, excluded.score, excluded.won, excluded.lost, excluded.void,
        excluded.total, excluded.calls, excluded.takes, excluded.month_score, excluded.month_done, excluded.counted,
        excluded.viewer_minutes);

-- name: MarkEdgesDue :exec
-- Marks the rows whose edge must be recomputed: those with results in the feed up to @seq.
INSERT INTO board_due (user_id, lane)
SELECT DISTINCT e.user_id, k.lane
FROM protocol_events AS e CROSS JOIN LATERAL (VALUES (''), (e.lane)) AS k (lane)
WHERE e.seq > (SELECT b.seq FROM board_state AS b) AND e.seq <= @seq AND e.type = 'signal.resolved' AND e.user_id IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: AgeBoards :exec
-- Adds the events that leave the window to the aged counters and moves the start of the window.
WITH aged AS (
    INSERT INTO operator_aged AS a (user_id, lane, calls, takes, score, done)
    SELECT e.user_id, e.lane, e.calls, e.takes, e.score, e.done
    FROM board_edge(@since::timestamptz) AS e (user_id, lane, calls, takes, score, done)
    ON CONFLICT (user_id, lane) DO UPDATE SET
        calls = a.calls + excluded.calls, takes = a.takes + excluded.takes,
        score = a.score + excluded.score, done = a.done + excluded.done
)
UPDATE board_state SET seq = @seq, since = @since::timestamptz;

-- name: TakeEdgesDue :many
-- Deletes marks and returns them. They are found by ctid, because rows of this table are never updated and only one
-- process folds.
DELETE FROM board_due WHERE ctid = ANY (ARRAY(SELECT ctid FROM board_due LIMIT sqlc.arg('limit'))) RETURNING user_id, lane;

-- name: StoreEdges :exec
-- Stores computed edges.
UPDATE board_rows AS b SET skill_calls = e.calls, edge_bps = e.edge, low_bps = e.low, high_bps = e.high
FROM unnest(@user_ids::uuid[], @lanes::text[], @calls::bigint[], @edges::integer[], @lows::integer[], @highs::integer[])
    AS e (user_id, lane, calls, edge, low, high)
WHERE b.user_id = e.user_id AND b.lane = e.lane;

-- name: ListTalliesOfRows :many
-- Returns the calls of board rows by row (n, from 1), price and confidence. An empty lane is the whole record.
SELECT d.n::bigint AS n, t.price_bps, t.confidence, t.calls, t.wins
FROM unnest(@user_ids::uuid[], @lanes::text[]) WITH ORDINALITY AS d (user_id, lane, n)
CROSS JOIN LATERAL (
    SELECT o.price_bps, o.confidence, sum(o.calls)::bigint AS calls, sum(o.wins)::bigint AS wins
    FROM operator_tallies AS o
    WHERE o.user_id = d.user_id AND (d.lane = '' OR o.lane = d.lane)
    GROUP BY o.price_bps, o.confidence
) AS t
ORDER BY d.n;

-- name: GetPulse :one
-- Returns the totals of the pulse. Totals of all time come from counters. Calls of the rolling weeks are counted, and
-- the newest call of an operator is read.
WITH filers AS (
    SELECT u.id, u.tier, t.total
    FROM operator_totals AS t JOIN users AS u ON u.id = t.user_id
    WHERE t.total > 0
), scored AS (
    SELECT coalesce(sum(o.won), 0) AS won, coalesce(sum(o.lost), 0) AS lost, coalesce(sum(o.void), 0) AS void,
        coalesce(sum(o.clv_count), 0) AS clv, coalesce(sum(o.beat_line), 0) AS beat
    FROM operator_scores AS o
), weeks AS (
    SELECT count(*) FILTER (WHERE s.created_at >= sqlc.arg(now)::timestamptz - interval '168 hours') AS last7,
        count(*) FILTER (WHERE s.created_at < sqlc.arg(now)::timestamptz - interval '168 hours') AS prev7
    FROM signals AS s JOIN users AS u ON u.id = s.user_id AND u.tier = 'independent'
    WHERE s.created_at >= sqlc.arg(now)::timestamptz - interval '336 hours' AND s.created_at < @now::timestamptz
), tiers AS (
    SELECT coalesce(sum(f.total), 0) AS signals,
        coalesce(sum(f.total) FILTER (WHERE f.tier = 'independent'), 0) AS independent,
        coalesce(sum(f.total) FILTER (WHERE f.tier = 'house'), 0) AS house,
        coalesce(sum(f.total) FILTER (WHERE f.tier = 'automated'), 0) AS automated,
        count(*) FILTER (WHERE f.tier = 'independent') AS operators,
        count(*) FILTER (WHERE f.tier = 'house') AS houses,
        count(*) FILTER (WHERE f.tier = 'independent' AND EXISTS (
            SELECT FROM signals AS s
            WHERE s.user_id = f.id AND s.created_at >= sqlc.arg(now)::timestamptz - interval '672 hours')) AS active28
    FROM filers AS f
)
SELECT t.signals::bigint AS signals, t.independent::bigint AS independent, t.house::bigint AS house,
    t.automated::bigint AS automated,
    w.last7, w.prev7, t.operators, t.active28, t.houses, (SELECT count(*) FROM users) AS registered,
    (SELECT count(*) FROM market_totals AS m WHERE m.yes + m.no > 0) AS markets,
    c.won::bigint AS won, c.lost::bigint AS lost, (t.signals - c.won - c.lost - c.void)::bigint AS open, c.clv::bigint AS clv,
    c.beat::bigint AS beat
FROM tiers AS t, weeks AS w, scored AS c;

-- name: CountPrices :many
-- Counts the counted calls on venue markets in ten equal ranges of the scoring price. sum_bps is the sum of their prices.
SELECT (t.price_bps / 1000)::integer AS range, sum(t.calls)::bigint AS calls, sum(t.wins)::bigint AS wins,
    sum(t.calls * t.price_bps)::bigint AS sum_bps
FROM operator_tallies AS t GROUP BY 1 ORDER BY 1;

-- name: GetLastActivity :one
-- Returns the time of the last call of an independent operator before @now (null: none), and the number of claims of
-- the 28 days before.
SELECT (SELECT s.created_at FROM signals AS s JOIN users AS u ON u.id = s.user_id AND u.tier = 'independent'
        WHERE s.created_at < @now::timestamptz ORDER BY s.created_at DESC LIMIT 1)::pg_catalog.timestamptz AS last,
    (SELECT count(*) FROM market_resolutions AS r
        WHERE r.resolved_at >= sqlc.arg(now)::timestamptz - interval '672 hours'
            AND r.resolved_at <= @now::timestamptz) AS claims;

-- name: CountWeeks :many
-- Counts the calls of each week from @first, a Monday, to @now, by tier, and the independent operators with calls.
-- Weeks without a call are omitted.
SELECT f.week::integer AS week, coalesce(sum(f.n) FILTER (WHERE u.tier = 'independent'), 0)::bigint AS independent,
    coalesce(sum(f.n) FILTER (WHERE u.tier = 'house'), 0)::bigint AS house,
    coalesce(sum(f.n) FILTER (WHERE u.tier = 'automated'), 0)::bigint AS automated,
    count(*) FILTER (WHERE u.tier = 'independent') AS active
FROM (
    SELECT s.user_id, floor(extract(epoch FROM s.created_at - @first::timestamptz) / 604800)::integer AS week, count(*) AS n
    FROM signals AS s WHERE s.created_at >= @first::timestamptz AND s.created_at < @now::timestamptz
    GROUP BY 1, 2
) AS f
JOIN users AS u ON u.id = f.user_id
GROUP BY f.week ORDER BY f.week;
