WITH left_over AS (
    SELECT id FROM messages
    WHERE status = 'pending' AND tried_at <= $1
    ORDER BY tried_at
    LIMIT $3
    FOR UPDATE SKIP LOCKED
)
UPDATE messages AS m SET tried_at = $2
FROM left_over AS l
WHERE m.id = l.id AND m.status = 'pending'
RETURNING m.id, m.type, m.denpa_id::text, coalesce(m.app_id, ''), m.public_key, m.nonce, m.body, m.attested, coalesce(m.subject, ''), true,
          m.attempt::text, m.received_at, coalesce(m.result, '')
