-- Ends an entry that is not over and empties its slots that begin after $4, with the
-- slot that runs $2 and the time $3. An entry that is over, or ended before, is given
-- as it is.
WITH ended AS (
    UPDATE preempts SET cancelled_at = $3
    WHERE id = $1 AND cancelled_at IS NULL AND slot + slots > $2
    RETURNING id
), emptied AS (
    DELETE FROM program_slots s USING ended e
    WHERE s.preempt_id = e.id AND s.slot > $4
)
SELECT p.id, p.lane, p.slot, p.slots, p.market_id, coalesce(p.reason, ''), p.created_at,
    CASE WHEN EXISTS (SELECT FROM ended) THEN $3 ELSE p.cancelled_at END
FROM preempts p WHERE p.id = $1
