-- The message itself, and what holds its nonce. The message comes first.
SELECT id, type, denpa_id::text, coalesce(app_id, ''), public_key, nonce, body, attested, coalesce(subject, ''), status = 'pending',
       attempt::text, received_at, coalesce(result, '')
FROM messages
WHERE id = $1 OR public_key = $2 AND nonce = $3
ORDER BY id = $1 DESC
LIMIT 1
