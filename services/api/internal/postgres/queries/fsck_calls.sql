-- Recomputes the price, the time and the count of every call from the stored facts; rows are the
-- calls that differ. $1: whether a counted call on a venue market needs a second quote. Results of
-- version 1.0 are not checked. What is read: signals, late_signals, quotes, price_tolerances,
-- market_resolutions, and the creator and the initial price of native markets.
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
    SELECT c.*,
        CASE WHEN c.native THEN CASE WHEN c.yes THEN greatest(c.market_yes_bps, c.initial_yes_bps)
                                     ELSE 10000 - least(c.market_yes_bps, c.initial_yes_bps) END
             WHEN c.yes THEN q.yes_price_bps ELSE q.no_price_bps END AS side,
        CASE WHEN c.yes THEN k.yes_price_bps ELSE k.no_price_bps END AS second,
        -- A quote between the least time after a call and the stored one would have been the first.
        EXISTS (SELECT FROM quotes e WHERE NOT c.native AND e.market_id = c.market_id
            AND e.at >= c.created_at + interval '1 minute' AND e.at < c.confirmed_at) AS skipped
    FROM called c
    LEFT JOIN quotes q ON NOT c.native AND q.market_id = c.market_id AND q.at = c.quote_at
    LEFT JOIN quotes k ON NOT c.native AND k.market_id = c.market_id AND k.at = c.confirmed_at
), judged AS (
    SELECT p.*, l.late, CASE WHEN l.late OR p.outcome = 'INVALID' THEN 'void'
             WHEN (p.outcome = 'YES') = p.yes THEN 'won' ELSE 'lost' END AS due,
        coalesce(p.verified AND p.rated AND p.rated_then AND p.created_by IS DISTINCT FROM p.user_id::text
            AND (p.native OR p.quote_at IS NOT NULL AND p.side IS NOT NULL AND (NOT $1 OR p.confirmed_at IS NOT NULL)), false) AS eligible,
        greatest(p.basis_bps, 1) AS price
    FROM priced p
    CROSS JOIN LATERAL (SELECT p.created_at >= p.close_at OR EXISTS (SELECT FROM late_signals x WHERE x.signal_id = p.id) AS late) l
), found AS (
    SELECT j.id, f.what, f.stored, f.computed
    FROM judged j
    CROSS JOIN LATERAL (
        -- Scoring price at filing (docs/scores.md).
        SELECT 'scoreBasisBps at filing' AS what, j.filed::text AS stored,
            CASE WHEN j.verified THEN 'max of ' || j.price_bps || ' and ' || coalesce(j.side::text, 'a quote that is not stored') ELSE j.price_bps::text END AS computed
        WHERE CASE WHEN NOT j.verified THEN j.filed <> j.price_bps
            WHEN j.side IS NULL THEN j.quote_at IS NOT NULL
            ELSE NOT EXISTS (SELECT FROM rules t
                WHERE t.since <= j.created_at AND coalesce(t.until > j.created_at - interval '5 minutes', true)
                    AND greatest(j.price_bps, j.side - t.bps) = j.filed) AND EXISTS (SELECT FROM rules) END
        UNION ALL
        SELECT 'quoteAt', j.quote_at::text, 'not more than 15 minutes before ' || j.created_at
        WHERE j.quote_at < j.created_at - interval '15 minutes'
        UNION ALL
        SELECT 'quoteAt', j.quote_at::text, 'null, of an unverified call' WHERE j.quote_at IS NOT NULL AND NOT j.verified
        UNION ALL
        -- Second quote.
        SELECT 'scoreBasisBps', j.basis_bps::text, greatest(j.filed, j.second)::text
        WHERE j.scored AND j.basis_bps IS DISTINCT FROM greatest(j.filed, j.second)
        UNION ALL
        SELECT 'confirmedAt', j.confirmed_at::text, 'the first stored quote after the call, within 10 minutes, before ' || j.close_at
        WHERE j.confirmed_at IS NOT NULL AND (j.second IS NULL OR j.skipped OR NOT j.verified
            OR j.confirmed_at <= j.created_at OR j.confirmed_at > j.created_at + interval '10 minutes' OR j.confirmed_at >= j.close_at)
        UNION ALL
        -- Late calls, status, score and closing line.
        SELECT 'reason', coalesce(j.reason, 'none'), CASE WHEN j.late THEN 'late' ELSE 'none' END
        WHERE j.scored AND j.late IS DISTINCT FROM (j.reason IS NOT DISTINCT FROM 'late')
        UNION ALL
        SELECT 'status', j.status, j.due
        WHERE j.scored AND j.status IS DISTINCT FROM j.due
        UNION ALL
        SELECT 'resolution', 'none', 'one, of the market of a result' WHERE j.scored AND j.outcome IS NULL
        UNION ALL
        SELECT 'score', j.score::text, v.score::text
        FROM (SELECT CASE j.status WHEN 'won' THEN (10000 - j.price) / 100 WHEN 'lost' THEN -((j.price + 99) / 100) ELSE 0 END AS score) v
        WHERE j.scored AND j.score <> v.score
        UNION ALL
        SELECT 'clvBps', coalesce(j.clv_bps::text, 'null'), coalesce(v.clv::text, 'null')
        FROM (SELECT CASE WHEN j.status <> 'void' THEN CASE WHEN j.yes THEN j.closing ELSE 10000 - j.closing END - j.basis_bps END AS clv) v
        WHERE j.scored AND j.clv_bps IS DISTINCT FROM v.clv
        UNION ALL
        -- Count.
        SELECT 'counted', j.counted::text, (j.eligible AND j.status <> 'void')::text
        WHERE j.scored AND j.counted <> (j.eligible AND j.status <> 'void')
    ) f
)
SELECT what, id::text, stored, computed FROM found ORDER BY id, what LIMIT 10000
