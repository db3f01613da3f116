-- The market's last change of state, its proposal's end, and the news of both.
WITH market AS (
    UPDATE markets SET status = 'resolved', resolution_value = $2, provisional = false,
        closed_at = coalesce(closed_at, $3), updated_at = $3
    WHERE market_id = $1
), proposal AS (
    DELETE FROM resolution_proposals WHERE market_id = $1
), queued AS (
    INSERT INTO outbox (type, market_id, at) VALUES ('market.resolved', $1, $3)
), waiting AS (
    INSERT INTO score_drains (market_id, created_at) SELECT $1, $3 WHERE $4
)
SELECT pg_notify('sc_outbox', '')
