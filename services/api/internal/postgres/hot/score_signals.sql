-- Scores the calls on a claimed market by operator; docs/scores.md defines the rules. A call filed at or after the
-- closing time is void. Points, moments, best call and streak include only counted calls. A streak is computed from all
-- results if a later result was scored before. The caller must hold the lock of LockScores.
-- Parameters: $1 market; $2 operator after which to continue (null: from the first); $3 largest number of calls; $4
-- scoring version; $5 time from a call to its second quote (null: second quotes are off).
-- Plan: the calls of a chunk are found by the index signals_market_id_user_id_key, limited to $3. The second quote of
-- each is the first entry of a range of quotes_pkey. late_signals is small. operator_scores is joined by key or by
-- hash, whichever is cheaper.
WITH claim AS (
    SELECT r.outcome, r.close_at, r.close_price, r.lane, r.resolved_at, r.rated, m.created_by, m.provider <> 'manual' AS venue,
        CASE r.outcome WHEN 'YES' THEN true WHEN 'NO' THEN false END AS yes_won,
        lpad(to_hex(floor(extract(epoch FROM r.resolved_at) * 1000)::bigint), 12, '0') AS ms
    FROM market_resolutions r JOIN markets m ON m.market_id = r.market_id
    WHERE r.market_id = $1
), batch AS (
    SELECT s.id, s.user_id, s.yes, s.score_basis_bps, s.price_verified, s.rated, s.market_yes_bps, s.created_at
    FROM signals s
    WHERE s.market_id = $1 AND s.user_id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
    ORDER BY s.user_id LIMIT $3
), priced AS (
    SELECT b.id, b.user_id, b.yes, b.created_at AS filed,
        b.created_at >= c.close_at OR EXISTS (SELECT FROM late_signals l WHERE l.signal_id = b.id) AS late,
        greatest(b.score_basis_bps, q.price) AS basis, q.at AS confirmed_at,
        b.price_verified AND b.rated AND c.rated AND c.created_by IS DISTINCT FROM b.user_id::text
            AND (NOT c.venue OR $5::interval IS NULL OR q.at IS NOT NULL) AS eligible,
        b.price_verified AND CASE WHEN b.yes THEN b.market_yes_bps < 5000 ELSE b.market_yes_bps > 5000 END AS against
    FROM batch b CROSS JOIN claim c
    LEFT JOIN LATERAL (
        SELECT at, CASE WHEN b.yes THEN yes_price_bps ELSE no_price_bps END AS price FROM quotes
        WHERE market_id = $1 AND at >= b.created_at + $5::interval
            AND at <= b.created_at + interval '10 minutes' AND at < c.close_at
        ORDER BY at LIMIT 1
    ) q ON b.price_verified AND c.venue
), judged AS (
    SELECT p.id, p.user_id, p.yes, p.filed, p.late, p.basis, p.confirmed_at, p.eligible, p.against,
        CASE WHEN p.late OR c.yes_won IS NULL THEN 'void' WHEN p.yes = c.yes_won THEN 'won' ELSE 'lost' END AS status
    FROM priced p CROSS JOIN claim c
), scored AS MATERIALIZED (
    SELECT j.id, j.user_id, j.filed, j.basis, j.confirmed_at, j.status, CASE WHEN j.late THEN 'late' END AS reason,
        CASE j.status WHEN 'won' THEN (10000 - greatest(j.basis, 1)) / 100
                      WHEN 'lost' THEN -((greatest(j.basis, 1) + 99) / 100) ELSE 0 END AS score,
        CASE WHEN j.status = 'void' THEN NULL
             WHEN j.yes THEN c.close_price - j.basis ELSE 10000 - c.close_price - j.basis END AS clv_bps,
        j.eligible AND j.status <> 'void' AS counted,
        j.eligible AND j.status <> 'void' AND c.venue AS line,
        coalesce(j.status = 'won' AND j.against, false) AS beat_crowd
    FROM judged j CROSS JOIN claim c
), results AS (
    INSERT INTO signal_results (signal_id, event_id, user_id, status, score, clv_bps, close_price, outcome,
        beat_crowd, scoring_version, scoring_vertical, resolved_at, basis_bps, counted, reason, confirmed_at)
    SELECT s.id, (left(c.ms, 8) || '-' || right(c.ms, 4) || substr(s.id::text, 14))::uuid, s.user_id, s.status, s.score,
        s.clv_bps,
        c.close_price, CASE WHEN s.status <> 'void' THEN c.outcome END, s.beat_crowd, $4, c.lane, c.resolved_at,
        s.basis, s.counted, s.reason, s.confirmed_at
    FROM scored s CROSS JOIN claim c
), minted AS (
    -- The id equals the result of function moment_id.
    INSERT INTO moments (signal_id, id, user_id, market_id, tier, odds_bps, score, minted_at)
    SELECT s.id, (left(c.ms, 8) || '-' || right(c.ms, 4) || '-7' || left(s.h, 3) || '-8' || substr(s.h, 4,
        3) || '-' || substr(s.h, 7, 12))::uuid,
        s.user_id, $1, moment_tier(s.basis), s.basis, s.score, c.resolved_at
    FROM (
        SELECT id, user_id, basis, score, md5('moment ' || id::text) AS h
        FROM scored WHERE status = 'won' AND counted AND basis <= 5000
    ) s CROSS JOIN claim c
), moved AS (
    UPDATE operator_scores o SET
        won = o.won + (r.status = 'won')::integer, lost = o.lost + (r.status = 'lost')::integer,
        void = o.void + (r.status = 'void')::integer,
        counted = o.counted + r.counted::integer, counted_lines = o.counted_lines + r.line::integer,
        score = o.score + CASE WHEN r.counted THEN r.score ELSE 0 END,
        clv_sum = o.clv_sum + CASE WHEN r.line THEN coalesce(r.clv_bps, 0) ELSE 0 END,
        clv_count = o.clv_count + (r.line AND r.clv_bps IS NOT NULL)::integer,
        beat_line = o.beat_line + coalesce(r.line AND r.clv_bps > 0, false)::integer,
        price_sum = o.price_sum + CASE WHEN r.line THEN within_price(r.basis) ELSE 0 END,
        best_bps = CASE WHEN r.counted AND r.status = 'won' THEN least(o.best_bps, r.basis) ELSE o.best_bps END,
        best_signal = CASE WHEN r.counted AND r.status = 'won'
                AND (o.best_bps IS NULL OR r.basis < o.best_bps OR r.basis = o.best_bps AND r.id < o.best_signal)
            THEN r.id ELSE o.best_signal END,
        streak = CASE
            WHEN NOT r.counted THEN o.streak
            WHEN r.resolved_at <= o.last_at THEN streak_with(r.user_id, r.status, r.resolved_at, r.filed, r.id)
            WHEN r.status = 'won' THEN o.streak + 1
            ELSE 0 END,
        last_at = CASE WHEN r.counted THEN greatest(o.last_at, r.resolved_at) ELSE o.last_at END
    FROM (SELECT s.id, s.user_id, s.basis, s.filed, s.status, s.score, s.clv_bps, s.counted, s.line, c.resolved_at
        FROM scored s CROSS JOIN claim c) r
    WHERE o.user_id = r.user_id
    RETURNING 1
)
SELECT count(*), count(*) FILTER (WHERE status = 'won'), count(*) FILTER (WHERE status = 'lost'),
    count(*) FILTER (WHERE status = 'void'), (SELECT max(user_id::text) FROM scored), (SELECT count(*) FROM moved)
FROM scored;
