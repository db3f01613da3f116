-- name: ListCallDifferences :many
-- Recomputes the price, the time and the count of every call from the stored facts and returns the calls that differ.
-- @confirm: a counted call on a venue market needs a second quote. Results of version 1.0 are not checked. The
-- statement reads signals, late_signals, quotes, price_tolerances, market_resolutions, and the creator and the initial
-- price of native markets.
WITH rules AS MATERIALIZED (
    SELECT since, lead(since) OVER (ORDER BY since) AS until, bps FROM price_tolerances
), called AS (
    SELECT s.id, s.user_id, s.market_id, s.yes, s.price_bps, s.score_basis_bps AS filed, s.price_verified AS verified, s.rated,
        s.market_yes_bps, s.quote_at, s.created_at, s.market_id LIKE 'native-%' AS native,
        r.signal_id IS NOT NULL AS scored, r.status, r.score, r.clv_bps, r.close_price, r.outcome AS stored_outcome, r.basis_bps,
        r.counted, r.reason, r.confirmed_at, c.outcome, c.close_at, c.close_price AS closing, c.rated AS rated_then,
        m.created_by, m.initial_yes_bps
    FROM signals s
    LEFT JOIN signal_results r ON r.signal_id = s.id
    LEFT JOIN market_resolutions c ON c.market_id = s.market_id
    LEFT JOIN markets m ON m.market_id = s.market_id AND s.market_id LIKE 'native-%'
    WHERE r.scoring_version IS DISTINCT FROM '1.0'
), priced AS (
    -- The price of the side at the call and in the second quote.
    SELECT c.id, c.user_id, c.market_id, c.yes, c.price_bps, c.filed, c.verified, c.rated, c.quote_at, c.created_at, c.native,
        c.scored,
        c.status, c.score, c.clv_bps, c.basis_bps, c.counted, c.reason, c.confirmed_at, c.outcome, c.close_at, c.closing,
            c.rated_then,
        c.created_by,
        CASE WHEN c.native THEN CASE WHEN c.yes THEN greatest(c.market_yes_bps, c.initial_yes_bps)
                                     ELSE 10000 - least(c.market_yes_bps, c.initial_yes_bps) END
             WHEN c.yes THEN q.yes_price_bps ELSE q.no_price_bps END AS side,
        CASE WHEN c.yes THEN k.yes_price_bps ELSE k.no_price_bps END AS second,
        -- A quote between the shortest time after a call and the stored second quote would have been the second quote.
        EXISTS (SELECT FROM quotes e WHERE NOT c.native AND e.market_id = c.market_id
            AND e.at >= c.created_at + interval '1 minute' AND e.at < c.confirmed_at) AS skipped
    FROM called c
    LEFT JOIN quotes q ON NOT c.native AND q.market_id = c.market_id AND q.at = c.quote_at
    LEFT JOIN quotes k ON NOT c.native AND k.market_id = c.market_id AND k.at = c.confirmed_at
), judged AS (
    SELECT p.id, p.yes, p.price_bps, p.filed, p.verified, p.quote_at, p.created_at, p.scored, p.status, p.score, p.clv_bps,
        p.basis_bps,
        p.counted, p.reason, p.confirmed_at, p.outcome, p.close_at, p.closing, p.side, p.second, p.skipped, l.late,
        CASE WHEN l.late OR p.outcome = 'INVALID' THEN 'void'
             WHEN (p.outcome = 'YES') = p.yes THEN 'won' ELSE 'lost' END AS due,
        coalesce(p.verified AND p.rated AND p.rated_then AND p.created_by IS DISTINCT FROM p.user_id::text
            AND (p.native OR p.quote_at IS NOT NULL AND p.side IS NOT NULL AND (NOT @confirm::boolean
                OR p.confirmed_at IS NOT NULL)), false) AS eligible,
        greatest(p.basis_bps, 1) AS price
    FROM priced p
    CROSS JOIN LATERAL (SELECT p.created_at >= p.close_at OR EXISTS (SELECT FROM late_signals x
        WHERE x.signal_id = p.id) AS late) l
), found AS (
    SELECT j.id, f.what, f.stored, f.computed
    FROM judged j
    CROSS JOIN LATERAL (
        -- Scoring price at filing (docs/scores.md).
        SELECT 'scoreBasisBps at filing' AS what, j.filed::text AS stored,
            CASE WHEN j.verified THEN 'max of ' || j.price_bps || ' and ' || coalesce(j.side::text,
                'a quote that is not stored') ELSE j.price_bps::text END AS computed
        WHERE CASE WHEN NOT j.verified THEN j.filed <> j.price_bps
            WHEN j.side IS NULL THEN j.quote_at IS NOT NULL
            ELSE NOT EXISTS (SELECT FROM rules t
                WHERE t.since <= j.created_at AND coalesce(t.until > j.created_at - interval '5 minutes', true)
                    AND greatest(j.price_bps, j.side - t.bps) = j.filed) AND EXISTS (SELECT FROM rules) END
        UNION ALL
        SELECT 'quoteAt', j.quote_at::text, 'not more than 15 minutes before ' || j.created_at
        WHERE j.quote_at < j.created_at - interval '15 minutes'
        UNION ALL
        SELECT 'quoteAt', j.quote_at::text, 'null, because the call is unverified' WHERE j.quote_at IS NOT NULL AND NOT j.verified
        UNION ALL
        -- Second quote.
        SELECT 'scoreBasisBps', j.basis_bps::text, greatest(j.filed, j.second)::text
        WHERE j.scored AND j.basis_bps IS DISTINCT FROM greatest(j.filed, j.second)
        UNION ALL
        SELECT 'confirmedAt', j.confirmed_at::text,
            'the first stored quote after the call, within 10 minutes, before ' || j.close_at
        WHERE j.confirmed_at IS NOT NULL AND (j.second IS NULL OR j.skipped OR NOT j.verified
            OR j.confirmed_at <= j.created_at OR j.confirmed_at > j.created_at + interval '10 minutes'
                OR j.confirmed_at >= j.close_at)
        UNION ALL
        -- Late calls, status, score and closing line.
        SELECT 'reason', coalesce(j.reason, 'none'), CASE WHEN j.late THEN 'late' ELSE 'none' END
        WHERE j.scored AND j.late IS DISTINCT FROM (j.reason IS NOT DISTINCT FROM 'late')
        UNION ALL
        SELECT 'status', j.status, j.due
        WHERE j.scored AND j.status IS DISTINCT FROM j.due
        UNION ALL
        SELECT 'resolution', 'none', 'a resolution, because the call has a result' WHERE j.scored AND j.outcome IS NULL
        UNION ALL
        SELECT 'score', j.score::text, v.score::text
        FROM (SELECT CASE j.status WHEN 'won' THEN (10000 - j.price) / 100 WHEN 'lost' THEN -((j.price + 99) / 100)
            ELSE 0 END AS score) v
        WHERE j.scored AND j.score <> v.score
        UNION ALL
        SELECT 'clvBps', coalesce(j.clv_bps::text, 'null'), coalesce(v.clv::text, 'null')
        FROM (SELECT CASE WHEN j.status <> 'void' THEN CASE WHEN j.yes THEN j.closing
            ELSE 10000 - j.closing END - j.basis_bps END AS clv) v
        WHERE j.scored AND j.clv_bps IS DISTINCT FROM v.clv
        UNION ALL
        -- Count.
        SELECT 'counted', j.counted::text, (j.eligible AND j.status <> 'void')::text
        WHERE j.scored AND j.counted <> (j.eligible AND j.status <> 'void')
    ) f
)
SELECT f.what::text AS counter, f.id::text AS of, f.stored::pg_catalog.text AS stored, f.computed::pg_catalog.text AS computed
FROM found AS f ORDER BY f.id, f.what LIMIT 10000;

-- name: ListCounterDifferences :many
-- Compares every counter with a count of the stored calls and results and returns the differences. Signals and results
-- are each read once for the counts of published calls, and joined for those of counted calls, whose market and price
-- are in the signal.
WITH called AS MATERIALIZED (
    -- By market, and by operator.
    SELECT s.market_id, s.user_id, count(*) AS n, count(*) FILTER (WHERE s.yes) AS yes,
        count(*) FILTER (WHERE s.created_at < (SELECT since FROM board_state)) AS aged
    FROM signals s
    GROUP BY GROUPING SETS ((s.market_id), (s.user_id))
), machine AS (
    SELECT s.market_id AS id, count(*) FILTER (WHERE s.yes) AS yes, count(*) FILTER (WHERE NOT s.yes) AS no
    FROM users u JOIN signals s ON s.user_id = u.id
    WHERE NOT u.crowd GROUP BY s.market_id
), market AS (
    SELECT c.market_id AS id, c.yes, c.n - c.yes AS no, c.yes - coalesce(m.yes, 0) AS crowd_yes, c.n - c.yes - coalesce(m.no,
        0) AS crowd_no
    FROM called c LEFT JOIN machine m ON m.id = c.market_id WHERE c.market_id IS NOT NULL
), total AS (
    SELECT user_id AS id, n AS total, aged FROM called WHERE user_id IS NOT NULL
), lane AS MATERIALIZED (
    SELECT r.user_id AS id, r.scoring_vertical AS lane, count(*) FILTER (WHERE r.status = 'won') AS won,
        count(*) FILTER (WHERE r.status = 'lost') AS lost, count(*) FILTER (WHERE r.status = 'void') AS void,
        coalesce(sum(r.score) FILTER (WHERE r.counted), 0) AS score, count(*) FILTER (WHERE r.counted) AS counted,
        count(*) FILTER (WHERE l.line) AS counted_lines, coalesce(sum(r.clv_bps) FILTER (WHERE l.line), 0) AS clv_sum,
        count(r.clv_bps) FILTER (WHERE l.line) AS clv_count, count(*) FILTER (WHERE l.line AND r.clv_bps > 0) AS beat_line,
        coalesce(sum(least(greatest(coalesce(r.basis_bps, s.score_basis_bps), 1), 9999)) FILTER (WHERE l.line), 0) AS price_sum,
        coalesce(sum(r.score) FILTER (WHERE r.counted AND r.resolved_at < (SELECT since FROM board_state)), 0) AS aged_score,
        count(*) FILTER (WHERE r.counted AND r.resolved_at < (SELECT since FROM board_state)) AS aged_done
    FROM signal_results r
    JOIN signals s ON s.id = r.signal_id
    CROSS JOIN LATERAL (SELECT r.counted AND s.market_id NOT LIKE 'native-%' AS line) l
    GROUP BY r.user_id, r.scoring_vertical
), score AS (
    SELECT l.id, sum(l.won)::bigint AS won, sum(l.lost)::bigint AS lost, sum(l.void)::bigint AS void,
        sum(l.score)::bigint AS score,
        sum(l.counted)::bigint AS counted, sum(l.counted_lines)::bigint AS counted_lines,
        sum(l.clv_sum)::bigint AS clv_sum, sum(l.clv_count)::bigint AS clv_count, sum(l.beat_line)::bigint AS beat_line,
        sum(l.aged_score)::bigint AS aged_score, sum(l.aged_done)::bigint AS aged_done, sum(l.price_sum)::bigint AS price_sum
    FROM lane l GROUP BY l.id
), take AS (
    SELECT n.user_id AS id, count(*) AS takes, count(*) FILTER (WHERE n.at < (SELECT since FROM board_state)) AS aged
    FROM (
        SELECT s.user_id, e.created_at AS at FROM signal_events e JOIN signals s ON s.id = e.signal_id WHERE e.type = 'take'
        UNION ALL SELECT s.user_id, s.created_at FROM signals s WHERE s.text_take <> ''
    ) AS n GROUP BY n.user_id
), whole AS MATERIALIZED (
    -- One row for each operator with all counts of the whole record.
    SELECT coalesce(t.id, s.id, k.id) AS id, t.total, coalesce(t.aged, 0) AS aged, k.takes, coalesce(k.aged, 0) AS takes_aged,
        s.won, s.lost, s.void, s.score, s.clv_sum, s.clv_count, s.beat_line, s.counted, s.counted_lines, s.price_sum,
            coalesce(s.aged_score, 0) AS aged_score, coalesce(s.aged_done, 0) AS aged_done
    FROM total t FULL JOIN score s ON s.id = t.id FULL JOIN take k ON k.id = coalesce(t.id, s.id)
), moved AS (
    SELECT f.user_id FROM board_fresh('', (SELECT t.since FROM board_state AS t), NULL) AS f (user_id, lane, tier, handle,
        score, won, lost,
        void, total, calls, takes, month_score, month_done, cast_all, cast_month, counted)
), watched AS (
    SELECT user_id AS id, sum(viewer_seconds)::bigint / 60 AS minutes FROM viewer_reports
    WHERE at >= (SELECT since FROM board_state) GROUP BY user_id
), row_of AS (
    -- A board row must equal the record, except for operators with changes since the last fold. The window is the
    -- record without older events.
    SELECT c.user_id AS id, '' AS lane, c.score, c.won, c.lost, c.void, t.total,
        t.total - coalesce(w.aged, 0) AS calls, coalesce(w.takes, 0) - coalesce(w.takes_aged, 0) AS takes,
        c.score - coalesce(w.aged_score, 0) AS month_score, c.counted - coalesce(w.aged_done, 0) AS month_done, c.counted,
        coalesce(v.minutes, 0) AS viewer_minutes
    FROM operator_scores c
    JOIN operator_totals t ON t.user_id = c.user_id AND t.total > 0
    LEFT JOIN whole w ON w.id = c.user_id
    LEFT JOIN watched v ON v.id = c.user_id
    UNION ALL
    SELECT c.id, c.lane, c.score, c.won, c.lost, c.void, w.total, w.total - w.aged, coalesce(w.takes, 0) - w.takes_aged,
        c.score - c.aged_score, c.counted - c.aged_done, c.counted, coalesce(v.minutes, 0)
    FROM lane c JOIN whole w ON w.id = c.id AND w.total IS NOT NULL LEFT JOIN watched v ON v.id = c.id
)
SELECT 'market_totals'::text AS counter, coalesce(k.market_id, c.id)::text AS of,
    row(k.yes, k.no, k.crowd_yes, k.crowd_no)::pg_catalog.text AS stored, row(c.yes, c.no, c.crowd_yes,
        c.crowd_no)::pg_catalog.text AS computed
FROM market_totals k FULL JOIN market c ON c.id = k.market_id
WHERE (coalesce(k.yes, 0), coalesce(k.no, 0), coalesce(k.crowd_yes, 0), coalesce(k.crowd_no, 0))
    IS DISTINCT FROM (coalesce(c.yes, 0), coalesce(c.no, 0), coalesce(c.crowd_yes, 0), coalesce(c.crowd_no, 0))
UNION ALL
SELECT 'operator_totals', coalesce(k.user_id, c.id)::text, row(k.total, k.crowd)::text, row(c.total, u.crowd)::text
FROM operator_totals k FULL JOIN whole c ON c.id = k.user_id LEFT JOIN users u ON u.id = coalesce(k.user_id, c.id)
WHERE coalesce(k.total, 0) <> coalesce(c.total, 0) OR k.crowd <> u.crowd
UNION ALL
SELECT 'operator_scores', coalesce(k.user_id, c.id)::text, row(k.won, k.lost, k.void, k.score, k.clv_sum, k.clv_count,
    k.beat_line, k.price_sum, k.counted, k.counted_lines)::text,
    row(c.won, c.lost, c.void, c.score, c.clv_sum, c.clv_count, c.beat_line, c.price_sum, c.counted, c.counted_lines)::text
FROM operator_scores k FULL JOIN whole c ON c.id = k.user_id
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.clv_sum, 0),
    coalesce(k.clv_count, 0), coalesce(k.beat_line, 0), coalesce(k.price_sum, 0),
        coalesce(k.counted, 0), coalesce(k.counted_lines, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.clv_sum,
        0), coalesce(c.clv_count, 0), coalesce(c.beat_line, 0), coalesce(c.price_sum, 0),
        coalesce(c.counted, 0), coalesce(c.counted_lines, 0))
UNION ALL
SELECT 'operator_lane_scores', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.won, k.lost, k.void,
    k.score, k.price_sum, k.counted, k.counted_lines)::text,
    row(c.won, c.lost, c.void, c.score, c.price_sum, c.counted, c.counted_lines)::text
FROM operator_lane_scores k FULL JOIN (
    -- Without results whose events are not numbered yet, because numbering adds them to the counters.
    SELECT l.id, l.lane, l.won - coalesce(p.won, 0) AS won, l.lost - coalesce(p.lost, 0) AS lost, l.void - coalesce(p.void,
        0) AS void,
        l.score - coalesce(p.score, 0) AS score, l.price_sum - coalesce(p.price_sum, 0) AS price_sum,
        l.counted - coalesce(p.counted, 0) AS counted, l.counted_lines - coalesce(p.counted_lines, 0) AS counted_lines
    FROM lane l LEFT JOIN board_pending() p ON p.user_id = l.id AND p.lane = l.lane
) c ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.won, 0), coalesce(k.lost, 0), coalesce(k.void, 0), coalesce(k.score, 0), coalesce(k.price_sum, 0),
    coalesce(k.counted, 0), coalesce(k.counted_lines, 0))
    IS DISTINCT FROM (coalesce(c.won, 0), coalesce(c.lost, 0), coalesce(c.void, 0), coalesce(c.score, 0), coalesce(c.price_sum,
        0), coalesce(c.counted, 0), coalesce(c.counted_lines, 0))
UNION ALL
SELECT 'operator_takes', coalesce(k.user_id, c.id)::text, k.takes::text, c.takes::text
FROM operator_takes k FULL JOIN whole c ON c.id = k.user_id
WHERE coalesce(k.takes, 0) <> coalesce(c.takes, 0)
UNION ALL
-- Events older than the window of board_rows: first of whole records, then of lanes.
SELECT 'operator_aged', coalesce(k.user_id, c.id)::text || ' ', row(k.calls, k.takes, k.score, k.done)::text,
    row(c.aged, c.takes_aged, c.aged_score, c.aged_done)::text
FROM (SELECT user_id, calls, takes, score, done FROM operator_aged WHERE lane = '') k FULL JOIN whole c ON c.id = k.user_id
WHERE (coalesce(k.calls, 0), coalesce(k.takes, 0), coalesce(k.score, 0), coalesce(k.done, 0))
    IS DISTINCT FROM (coalesce(c.aged, 0), coalesce(c.takes_aged, 0), coalesce(c.aged_score, 0), coalesce(c.aged_done, 0))
UNION ALL
SELECT 'operator_aged', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane), row(k.calls, k.takes, k.score,
    k.done)::text,
    row(0, 0, c.aged_score, c.aged_done)::text
FROM (SELECT user_id, lane, calls, takes, score, done FROM operator_aged WHERE lane <> '') k FULL JOIN lane c
    ON c.id = k.user_id AND c.lane = k.lane
WHERE (coalesce(k.calls, 0), coalesce(k.takes, 0), coalesce(k.score, 0), coalesce(k.done, 0))
    IS DISTINCT FROM (0, 0, coalesce(c.aged_score, 0), coalesce(c.aged_done, 0))
UNION ALL
SELECT 'board_rows', coalesce(k.user_id, c.id)::text || ' ' || coalesce(k.lane, c.lane),
    row(k.tier, k.handle, k.score, k.won, k.lost, k.void, k.total, k.calls, k.takes, k.month_score, k.month_done,
        k.counted, k.viewer_minutes, k.cast_all, k.cast_month)::text,
    row(u.tier, u.handle, c.score, c.won, c.lost, c.void, c.total, c.calls, c.takes, c.month_score, c.month_done, c.counted,
        c.viewer_minutes, x.cast_all, x.cast_month)::text
FROM board_rows k FULL JOIN row_of c ON c.id = k.user_id AND c.lane = k.lane
LEFT JOIN users u ON u.id = c.id
CROSS JOIN LATERAL (SELECT board_cast(c.score, c.counted, c.calls, c.takes, c.viewer_minutes) AS cast_all,
    board_cast(c.month_score, c.month_done, c.calls, c.takes, c.viewer_minutes) AS cast_month) x
WHERE coalesce(k.user_id, c.id) NOT IN (SELECT user_id FROM moved)
    AND (k.tier, k.handle, k.score, k.won, k.lost, k.void, k.total, k.calls, k.takes, k.month_score, k.month_done, k.counted,
        k.viewer_minutes, k.cast_all, k.cast_month)
    IS DISTINCT FROM (u.tier, u.handle, c.score, c.won, c.lost, c.void, c.total, c.calls, c.takes, c.month_score, c.month_done,
        c.counted, c.viewer_minutes, x.cast_all, x.cast_month)
LIMIT 1000;

-- name: ListRecordDifferences :many
-- Compares derived data with a computation from signals and results alone and returns the differences: moments, best
-- calls and streaks, tallies, and the field.
WITH result AS (
    SELECT s.id, s.user_id, s.market_id, coalesce(r.basis_bps, s.score_basis_bps) AS basis, s.confidence, s.created_at,
        r.status, r.score, r.scoring_vertical AS lane, r.resolved_at, s.market_id NOT LIKE 'native-%' AS line,
        count(*) FILTER (WHERE r.status = 'lost') OVER (PARTITION BY s.user_id
            ORDER BY r.resolved_at DESC, s.created_at DESC, s.id DESC) AS losses
    FROM signals s JOIN signal_results r ON r.signal_id = s.id AND r.counted
), moment AS (
    SELECT id AS signal_id, user_id, market_id, basis AS odds_bps, score, resolved_at AS minted_at,
        CASE WHEN basis > 3500 THEN 'COMMON' WHEN basis > 2000 THEN 'UNCOMMON' WHEN basis > 1000 THEN 'RARE'
             WHEN basis > 500 THEN 'EPIC' ELSE 'LEGENDARY' END AS tier
    FROM result WHERE status = 'won' AND basis <= 5000
), record AS (
    SELECT user_id, count(*) FILTER (WHERE losses = 0) AS streak,
        max(resolved_at) AS last_at, min(basis) FILTER (WHERE status = 'won') AS best_bps,
        (array_agg(id ORDER BY basis, id) FILTER (WHERE status = 'won'))[1] AS best_signal
    FROM result GROUP BY user_id
), tally AS (
    SELECT user_id, lane, least(greatest(basis, 1), 9999) AS price_bps, coalesce(confidence, 0) AS confidence,
        count(*) AS calls, count(*) FILTER (WHERE status = 'won') AS wins
    FROM result WHERE line GROUP BY 1, 2, 3, 4
), waiting AS (
    SELECT market_id, NULL::uuid AS after_user FROM outbox WHERE type = 'market.resolved'
    UNION ALL SELECT market_id, after_user FROM feed_drains
), pending AS (
    SELECT r.user_id, r.lane, least(greatest(r.basis, 1), 9999) AS price_bps, coalesce(r.confidence, 0) AS confidence,
        count(*) AS calls, count(*) FILTER (WHERE r.status = 'won') AS wins
    FROM result r JOIN waiting w ON w.market_id = r.market_id AND (w.after_user IS NULL OR r.user_id > w.after_user)
    WHERE r.line GROUP BY 1, 2, 3, 4
), field AS (
    SELECT tier, score, count(*) AS operators FROM board_rows WHERE lane = '' AND counted > 0 GROUP BY tier, score
)
SELECT 'moments'::text AS counter, coalesce(k.signal_id, c.signal_id)::text AS of,
    row(k.user_id, k.market_id, k.tier, k.odds_bps, k.score, k.minted_at)::pg_catalog.text AS stored,
    row(c.user_id, c.market_id, c.tier, c.odds_bps, c.score, c.minted_at)::pg_catalog.text AS computed
FROM (
    -- Moments of results of version 1.0 do not count. They remain stored and are not shown.
    SELECT m.signal_id, m.id, m.user_id, m.market_id, m.tier, m.odds_bps, m.score, m.minted_at FROM moments m
        WHERE NOT EXISTS (SELECT FROM signal_results r WHERE r.signal_id = m.signal_id AND r.scoring_version = '1.0')
) k FULL JOIN moment c ON c.signal_id = k.signal_id
WHERE (k.user_id, k.market_id, k.tier, k.odds_bps, k.score, k.minted_at) IS DISTINCT FROM (c.user_id, c.market_id, c.tier,
    c.odds_bps, c.score, c.minted_at)
    OR k.id <> moment_id(k.signal_id, k.minted_at)
UNION ALL
SELECT 'records', coalesce(k.user_id, c.user_id)::text,
    row(k.streak, k.last_at, k.best_bps, k.best_signal)::text, row(c.streak, c.last_at, c.best_bps, c.best_signal)::text
FROM operator_scores k FULL JOIN record c ON c.user_id = k.user_id
WHERE (coalesce(k.streak, 0), k.last_at, k.best_bps, k.best_signal) IS DISTINCT FROM (coalesce(c.streak, 0), c.last_at,
    c.best_bps, c.best_signal)
UNION ALL
SELECT 'operator_tallies', concat_ws(' ', coalesce(k.user_id, c.user_id), coalesce(k.lane, c.lane), coalesce(k.price_bps,
    c.price_bps), coalesce(k.confidence, c.confidence)),
    row(k.calls, k.wins)::text, row(c.calls, c.wins)::text
FROM (
    -- With results whose events are not numbered yet, because numbering adds them to the tallies.
    SELECT user_id, lane, price_bps, confidence, sum(calls) AS calls, sum(wins) AS wins
    FROM (
        SELECT user_id, lane, price_bps, confidence, calls, wins FROM operator_tallies
        UNION ALL SELECT user_id, lane, price_bps, confidence, calls, wins FROM pending
    ) t GROUP BY user_id, lane, price_bps, confidence
) k FULL JOIN tally c ON (c.user_id, c.lane, c.price_bps, c.confidence) = (k.user_id, k.lane, k.price_bps, k.confidence)
WHERE (k.calls, k.wins) IS DISTINCT FROM (c.calls, c.wins)
UNION ALL
SELECT 'board_field', coalesce(k.tier, c.tier) || ' ' || coalesce(k.score, c.score), k.operators::text, c.operators::text
FROM board_field k FULL JOIN field c ON c.tier = k.tier AND c.score = k.score
WHERE coalesce(k.operators, 0) <> coalesce(c.operators, 0)
LIMIT 1000;

-- name: ListStoredEdges :many
-- Returns the rows whose stored edge must be correct: those of operators without changes since the last fold and
-- without a mark.
SELECT b.user_id, b.lane, b.skill_calls, b.edge_bps, b.low_bps, b.high_bps
FROM board_rows AS b
WHERE NOT EXISTS (SELECT FROM board_due AS d WHERE d.user_id = b.user_id AND d.lane = b.lane)
    AND b.user_id NOT IN (
        SELECT f.user_id FROM board_fresh('', (SELECT t.since FROM board_state AS t), NULL) AS f (user_id, lane, tier, handle,
            score, won,
            lost, void, total, calls, takes, month_score, month_done, cast_all, cast_month, counted))
ORDER BY b.user_id, b.lane;

-- name: ListCountedTallies :many
-- Counts every counted call on a venue market by operator, lane, price and confidence, from signals and results alone.
SELECT s.user_id, r.scoring_vertical AS lane, coalesce(r.basis_bps, s.score_basis_bps)::integer AS price_bps,
    coalesce(s.confidence, 0)::integer AS confidence, count(*) AS calls, count(*) FILTER (WHERE r.status = 'won') AS wins
FROM signals AS s JOIN signal_results AS r ON r.signal_id = s.id
WHERE r.counted AND s.market_id NOT LIKE 'native-%'
GROUP BY 1, 2, 3, 4;
