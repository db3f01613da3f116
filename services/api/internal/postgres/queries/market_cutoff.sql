-- Native markets whose cutoff has passed are closed and told.
WITH due AS (
    SELECT market_id FROM markets
    WHERE provider = 'manual' AND status = 'open' AND end_date <= $1
    ORDER BY market_id LIMIT 500
    FOR UPDATE SKIP LOCKED
), closed AS (
    UPDATE markets m SET status = 'closed', closed_at = coalesce(m.closed_at, m.end_date), updated_at = $1
    FROM due WHERE m.market_id = due.market_id
    RETURNING m.market_id
), queued AS (
    INSERT INTO outbox (type, market_id, data, at)
    SELECT 'market.status', market_id, '{"from": "open", "to": "closed"}', $1 FROM closed ORDER BY market_id
    RETURNING id
), woken AS (
    SELECT pg_notify('sc_outbox', '') FROM queued LIMIT 1
)
SELECT count(*), (SELECT count(*) FROM woken) FROM closed
