SELECT id, type, denpa_id::text, coalesce(app_id, ''), public_key, nonce, body, attested, coalesce(subject, ''), status = 'pending',
       attempt::text, received_at, coalesce(result, '')
FROM messages
WHERE subject = $1
