-- Scores the signals of a claimed market, by operator: contract 4.2.1-4.2.3, the
-- SQL of package score. $2: after this operator, null: from the first. $3: at most.
-- What a record shows moves with the results: moments (4.8.2), the best call, the
-- streak. A result may be scored behind younger ones, so each is put in its place.
WITH claim AS (
    SELECT outcome, close_price, lane, resolved_at,
        CASE outcome WHEN 'YES' THEN true WHEN 'NO' THEN false END AS yes_won,
        lpad(to_hex(floor(extract(epoch FROM resolved_at) * 1000)::bigint), 12, '0') AS ms
    FROM market_resolutions WHERE market_id = $1
), batch AS (
    SELECT s.id, s.user_id, s.yes, s.score_basis_bps AS basis, s.crowd_yes_bps AS crowd,
        s.price_verified AS verified, s.created_at AS filed
    FROM signals s
    WHERE s.market_id = $1 AND ($2::uuid IS NULL OR s.user_id > $2)
    ORDER BY s.user_id LIMIT $3
), results AS (
    INSERT INTO signal_results (signal_id, event_id, user_id, status, score, clv_bps, close_price, outcome,
        beat_crowd, scoring_version, scoring_vertical, resolved_at)
    SELECT b.id, (left(c.ms, 8) || '-' || right(c.ms, 4) || substr(b.id::text, 14))::uuid, b.user_id,
        CASE WHEN c.yes_won IS NULL THEN 'void' WHEN b.yes = c.yes_won THEN 'won' ELSE 'lost' END,
        CASE WHEN c.yes_won IS NULL THEN 0
             WHEN b.yes = c.yes_won THEN (10000 - greatest(b.basis, 1)) / 100
             ELSE -((greatest(b.basis, 1) + 99) / 100) END,
        CASE WHEN c.yes_won IS NULL THEN NULL
             WHEN b.yes THEN c.close_price - b.basis ELSE 10000 - c.close_price - b.basis END,
        c.close_price, CASE WHEN c.yes_won IS NOT NULL THEN c.outcome END,
        coalesce(b.yes = c.yes_won AND CASE WHEN b.yes THEN b.crowd < 5000 ELSE b.crowd > 5000 END, false),
        $4, c.lane, c.resolved_at
    FROM batch b CROSS JOIN claim c
    RETURNING signal_id, user_id, status, score, clv_bps
), scored AS (
    SELECT r.user_id, r.status, r.score, r.clv_bps, b.id, b.basis, b.verified,
        within_price(b.basis) AS price, (c.resolved_at, b.filed, b.id)::result_key AS key, c.resolved_at
    FROM results r JOIN batch b ON b.id = r.signal_id CROSS JOIN claim c
), minted AS (
    INSERT INTO moments (signal_id, id, user_id, market_id, tier, odds_bps, score, minted_at)
    SELECT id, moment_id(id, resolved_at), user_id, $1, moment_tier(basis), basis, score, resolved_at
    FROM scored WHERE status = 'won' AND verified AND basis <= 5000
), moved AS (
    UPDATE operator_scores o SET
        won = o.won + (r.status = 'won')::integer, lost = o.lost + (r.status = 'lost')::integer,
        void = o.void + (r.status = 'void')::integer, score = o.score + r.score,
        clv_sum = o.clv_sum + coalesce(r.clv_bps, 0), clv_count = o.clv_count + (r.clv_bps IS NOT NULL)::integer,
        beat_line = o.beat_line + coalesce(r.clv_bps > 0, false)::integer,
        price_sum = o.price_sum + CASE WHEN r.status <> 'void' THEN r.price ELSE 0 END,
        best_bps = CASE WHEN r.status = 'won' THEN least(o.best_bps, r.basis) ELSE o.best_bps END,
        best_signal = CASE WHEN r.status = 'won' AND ((r.basis, r.id) < (o.best_bps, o.best_signal)) IS NOT FALSE
            THEN r.id ELSE o.best_signal END,
        streak = CASE
            WHEN r.status = 'void' OR r.key < o.lost_last THEN o.streak
            WHEN r.status = 'won' THEN o.streak + 1
            WHEN (r.key > o.last) IS NOT FALSE THEN 0
            ELSE wins_behind(r.user_id, r.key) END,
        last = CASE WHEN r.status <> 'void' THEN greatest(o.last, r.key) ELSE o.last END,
        lost_last = CASE WHEN r.status = 'lost' THEN greatest(o.lost_last, r.key) ELSE o.lost_last END
    FROM scored r WHERE o.user_id = r.user_id
    RETURNING 1
)
SELECT count(*), count(*) FILTER (WHERE status = 'won'), count(*) FILTER (WHERE status = 'lost'),
    count(*) FILTER (WHERE status = 'void'), (SELECT max(user_id::text) FROM results), (SELECT count(*) FROM moved)
FROM results
