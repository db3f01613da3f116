-- Compares what a record shows with a computation from signals and results alone; rows are
-- the differences. In order: moments, best calls and streaks, tallies, the field.
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
SELECT 'moments', coalesce(k.signal_id, c.signal_id)::text,
    row(k.user_id, k.market_id, k.tier, k.odds_bps, k.score, k.minted_at)::text,
    row(c.user_id, c.market_id, c.tier, c.odds_bps, c.score, c.minted_at)::text
FROM (
    -- Those of results of version 1.0, which do not count, remain stored and are not shown.
    SELECT m.* FROM moments m WHERE NOT EXISTS (SELECT FROM signal_results r WHERE r.signal_id = m.signal_id AND r.scoring_version = '1.0')
) k FULL JOIN moment c ON c.signal_id = k.signal_id
WHERE (k.user_id, k.market_id, k.tier, k.odds_bps, k.score, k.minted_at) IS DISTINCT FROM (c.user_id, c.market_id, c.tier, c.odds_bps, c.score, c.minted_at)
    OR k.id <> moment_id(k.signal_id, k.minted_at)
UNION ALL
SELECT 'records', coalesce(k.user_id, c.user_id)::text,
    row(k.streak, k.last_at, k.best_bps, k.best_signal)::text, row(c.streak, c.last_at, c.best_bps, c.best_signal)::text
FROM operator_scores k FULL JOIN record c ON c.user_id = k.user_id
WHERE (coalesce(k.streak, 0), k.last_at, k.best_bps, k.best_signal) IS DISTINCT FROM (coalesce(c.streak, 0), c.last_at, c.best_bps, c.best_signal)
UNION ALL
SELECT 'operator_tallies', concat_ws(' ', coalesce(k.user_id, c.user_id), coalesce(k.lane, c.lane), coalesce(k.price_bps, c.price_bps), coalesce(k.confidence, c.confidence)),
    row(k.calls, k.wins)::text, row(c.calls, c.wins)::text
FROM (
    -- With the results whose feed rows are still to be numbered: those move them.
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
LIMIT 1000
