-- Moves the crowd of the markets that operator $1 has called by $2 a call, and the
-- price of the open ones that are our own (4.3.7) with it. It runs after the
-- operator's counter row is locked, so it sees every call that was counted before.
WITH called AS (
    -- In the order in which filings lock these rows.
    SELECT t.market_id, s.yes
    FROM signals s JOIN market_totals t ON t.market_id = s.market_id
    WHERE s.user_id = $1
    ORDER BY t.market_id
    FOR UPDATE OF t
), counted AS (
    UPDATE market_totals t SET
        crowd_yes = t.crowd_yes + CASE WHEN c.yes THEN $2::integer ELSE 0 END,
        crowd_no = t.crowd_no + CASE WHEN c.yes THEN 0 ELSE $2::integer END
    FROM called c WHERE t.market_id = c.market_id
    RETURNING t.market_id, t.crowd_yes, t.crowd_no
), native AS (
    INSERT INTO market_quotes (market_id, at, yes_bps)
    SELECT c.market_id, $3::timestamptz, least(9900, greatest(100,
        round((8.0 * m.initial_yes_bps + 10000.0 * c.crowd_yes) / (8 + c.crowd_yes + c.crowd_no))))::integer
    FROM counted c JOIN markets m ON m.market_id = c.market_id
    WHERE m.initial_yes_bps IS NOT NULL AND m.status = 'open'
    ORDER BY c.market_id
    FOR SHARE OF m
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at, yes_bps = excluded.yes_bps
    RETURNING market_id, yes_bps
)
INSERT INTO market_prices (market_id, at, yes_bps)
SELECT market_id, $3::timestamptz, yes_bps FROM native
ON CONFLICT (market_id, at) DO UPDATE SET yes_bps = excluded.yes_bps
