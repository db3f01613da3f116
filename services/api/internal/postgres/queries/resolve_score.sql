-- Scores the signals of a claimed market, by operator: contract 4.2.1-4.2.3, the
-- SQL of package score. $2: after this operator, null: from the first. $3: at most.
-- What a record shows moves with the results: moments (4.8.2), the best call, the
-- streak, which is worked out anew where younger results were scored before.
WITH claim AS (
    SELECT outcome, close_price, lane, resolved_at,
        CASE outcome WHEN 'YES' THEN true WHEN 'NO' THEN false END AS yes_won,
        lpad(to_hex(floor(extract(epoch FROM resolved_at) * 1000)::bigint), 12, '0') AS ms
    FROM market_resolutions WHERE market_id = $1
), batch AS (
    SELECT s.id, s.user_id, s.yes, s.score_basis_bps AS basis, s.crowd_yes_bps AS crowd, s.price_verified AS verified, s.created_at AS filed
    FROM signals s
    WHERE s.market_id = $1 AND s.user_id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
    ORDER BY s.user_id LIMIT $3
), scored AS MATERIALIZED (
    SELECT b.id, b.user_id, b.basis, b.verified, b.filed,
        CASE WHEN c.yes_won IS NULL THEN 'void' WHEN b.yes = c.yes_won THEN 'won' ELSE 'lost' END AS status,
        CASE WHEN c.yes_won IS NULL THEN 0
             WHEN b.yes = c.yes_won THEN (10000 - greatest(b.basis, 1)) / 100
             ELSE -((greatest(b.basis, 1) + 99) / 100) END AS score,
        CASE WHEN c.yes_won IS NULL THEN NULL
             WHEN b.yes THEN c.close_price - b.basis ELSE 10000 - c.close_price - b.basis END AS clv_bps,
        coalesce(b.yes = c.yes_won AND CASE WHEN b.yes THEN b.crowd < 5000 ELSE b.crowd > 5000 END, false) AS beat_crowd
    FROM batch b CROSS JOIN claim c
), results AS (
    INSERT INTO signal_results (signal_id, event_id, user_id, status, score, clv_bps, close_price, outcome,
        beat_crowd, scoring_version, scoring_vertical, resolved_at)
    SELECT s.id, (left(c.ms, 8) || '-' || right(c.ms, 4) || substr(s.id::text, 14))::uuid, s.user_id, s.status, s.score, s.clv_bps,
        c.close_price, CASE WHEN c.yes_won IS NOT NULL THEN c.outcome END, s.beat_crowd, $4, c.lane, c.resolved_at
    FROM scored s CROSS JOIN claim c
), minted AS (
    -- The id is moment_id's, written out.
    INSERT INTO moments (signal_id, id, user_id, market_id, tier, odds_bps, score, minted_at)
    SELECT s.id, (left(c.ms, 8) || '-' || right(c.ms, 4) || '-7' || left(s.h, 3) || '-8' || substr(s.h, 4, 3) || '-' || substr(s.h, 7, 12))::uuid,
        s.user_id, $1, moment_tier(s.basis), s.basis, s.score, c.resolved_at
    FROM (
        SELECT id, user_id, basis, score, md5('moment ' || id::text) AS h
        FROM scored WHERE status = 'won' AND verified AND basis <= 5000
    ) s CROSS JOIN claim c
), moved AS (
    UPDATE operator_scores o SET
        won = o.won + (r.status = 'won')::integer, lost = o.lost + (r.status = 'lost')::integer,
        void = o.void + (r.status = 'void')::integer, score = o.score + r.score,
        clv_sum = o.clv_sum + coalesce(r.clv_bps, 0), clv_count = o.clv_count + (r.clv_bps IS NOT NULL)::integer,
        beat_line = o.beat_line + coalesce(r.clv_bps > 0, false)::integer,
        price_sum = o.price_sum + CASE WHEN r.status <> 'void' THEN within_price(r.basis) ELSE 0 END,
        best_bps = CASE WHEN r.status = 'won' THEN least(o.best_bps, r.basis) ELSE o.best_bps END,
        best_signal = CASE WHEN r.status = 'won' AND (o.best_bps IS NULL OR r.basis < o.best_bps OR r.basis = o.best_bps AND r.id < o.best_signal)
            THEN r.id ELSE o.best_signal END,
        streak = CASE
            WHEN r.status = 'void' THEN o.streak
            WHEN r.resolved_at <= o.last_at THEN streak_with(r.user_id, r.status, r.resolved_at, r.filed, r.id)
            WHEN r.status = 'won' THEN o.streak + 1
            ELSE 0 END,
        last_at = CASE WHEN r.status <> 'void' THEN greatest(o.last_at, r.resolved_at) ELSE o.last_at END
    FROM (SELECT s.id, s.user_id, s.basis, s.filed, s.status, s.score, s.clv_bps, c.resolved_at FROM scored s CROSS JOIN claim c) r
    WHERE o.user_id = r.user_id
    RETURNING 1
)
SELECT count(*), count(*) FILTER (WHERE status = 'won'), count(*) FILTER (WHERE status = 'lost'),
    count(*) FILTER (WHERE status = 'void'), (SELECT max(user_id::text) FROM scored), (SELECT count(*) FROM moved)
FROM scored
