-- Returns the markets with unconfirmed calls whose last request is the oldest, and marks them
-- as requested. $1 now, $2 only those not requested since, $3 limit.
WITH due AS (
    SELECT market_id FROM unconfirmed_signals
    WHERE denied_at IS NULL
    GROUP BY market_id
    HAVING coalesce(max(asked_at), '-infinity') <= $2
    ORDER BY max(asked_at) NULLS FIRST, market_id
    LIMIT $3
), asked AS (
    UPDATE unconfirmed_signals w SET asked_at = $1 FROM due d WHERE w.market_id = d.market_id AND w.denied_at IS NULL
)
SELECT market_id FROM due
