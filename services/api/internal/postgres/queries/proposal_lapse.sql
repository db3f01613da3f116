-- Proposals of before $1 end without a word. Markets are locked first, as by everybody.
WITH due AS (
    SELECT m.market_id FROM markets m JOIN resolution_proposals p ON p.market_id = m.market_id
    WHERE p.proposed_at <= $1 ORDER BY m.market_id LIMIT 500
    FOR UPDATE OF m SKIP LOCKED
), gone AS (
    DELETE FROM resolution_proposals p USING due WHERE p.market_id = due.market_id AND p.proposed_at <= $1
    RETURNING p.market_id
)
UPDATE markets m SET provisional = false, provisional_at = NULL, updated_at = $2
FROM gone WHERE m.market_id = gone.market_id AND m.status <> 'resolved'
