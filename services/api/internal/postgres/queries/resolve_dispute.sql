-- Flags or clears, with its history. A repeat keeps the first time and takes the
-- new reason. Clearing ends a native market's proposal.
WITH before AS (
    SELECT disputed FROM markets WHERE market_id = $1
), flag AS (
    INSERT INTO market_disputes AS d (market_id, disputed, reason, disputed_at)
    VALUES ($1, $2, CASE WHEN $2 THEN $3 END, CASE WHEN $2 THEN $4::timestamptz END)
    ON CONFLICT (market_id) DO UPDATE SET
        disputed = excluded.disputed, reason = excluded.reason,
        disputed_at = CASE WHEN excluded.disputed AND d.disputed THEN d.disputed_at ELSE excluded.disputed_at END
), market AS (
    UPDATE markets SET disputed = $2, updated_at = $4, provisional = provisional AND (provider <> 'manual' OR $2),
        provisional_at = CASE WHEN provider <> 'manual' OR $2 THEN provisional_at END
    WHERE market_id = $1
), proposal AS (
    DELETE FROM resolution_proposals WHERE market_id = $1 AND NOT $2
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    VALUES ($4, 'admin', CASE WHEN $2 THEN 'market.disputed' ELSE 'market.dispute_cleared' END, $1,
        jsonb_build_object('reason', $3::text))
), queued AS (
    -- The reason of this moment: a later one must not show in an earlier event.
    INSERT INTO outbox (type, market_id, data, at)
    SELECT CASE WHEN $2 THEN 'market.disputed' ELSE 'market.dispute_cleared' END, $1,
        CASE WHEN $2 THEN jsonb_build_object('disputeReason', $3::text) END, $4
    FROM before WHERE disputed <> $2
)
SELECT pg_notify('sc_outbox', '')
