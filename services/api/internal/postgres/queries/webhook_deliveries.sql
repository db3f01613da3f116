SELECT line, webhook_id, delivery_id, coalesce(first_seq, 0), coalesce(last_seq, 0), events, attempt, coalesce(status, 0), coalesce(error, ''), took_ms, at
FROM webhook_deliveries WHERE webhook_id = $1 AND ($2 = 0 OR line < $2::bigint)
ORDER BY line DESC LIMIT $3
