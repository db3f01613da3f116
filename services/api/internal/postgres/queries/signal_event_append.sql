-- One event of the caller's own signal; the key is checked in here.
WITH caller AS (
    SELECT u.id FROM users u
    LEFT JOIN operator_keys k ON k.hash = $1 AND k.revoked_at IS NULL
    WHERE u.id = coalesce(k.user_id, $2::uuid)
), used AS (
    UPDATE operator_keys SET last_used_at = $8
    WHERE hash = $1 AND revoked_at IS NULL AND (last_used_at IS NULL OR last_used_at < $8::timestamptz - interval '1 minute')
), stood AS (
    SELECT signal_id = $3 AND type = $5 AND payload = $6::jsonb AS same, created_at FROM signal_events WHERE id = $4
), target AS (
    SELECT s.id, s.market_id, s.user_id, c.id AS actor,
        (SELECT count(*) FROM signal_events e WHERE e.signal_id = s.id) AS events,
        EXISTS (SELECT FROM stood) AS stands
    FROM signals s LEFT JOIN caller c ON true
    WHERE s.id = $3
), added AS (
    INSERT INTO signal_events (id, signal_id, type, payload, actor, created_at)
    SELECT $4, id, $5, $6::jsonb, $7, $8 FROM target
    WHERE user_id = actor AND events < $9 AND NOT stands
    RETURNING signal_id
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, event_id, at)
    SELECT 'signal.event', t.market_id, t.user_id, t.id, $4, $8 FROM added a JOIN target t ON t.id = a.signal_id
), woken AS (
    SELECT pg_notify('sc_outbox', '') FROM added
)
SELECT EXISTS (SELECT FROM caller), EXISTS (SELECT FROM target),
    coalesce((SELECT user_id = actor FROM target), false), EXISTS (SELECT FROM added) OR coalesce((SELECT stands FROM target), false),
    (SELECT count(*) FROM woken), (SELECT same FROM stood), (SELECT created_at FROM stood)
