DELETE FROM idempotency_keys WHERE created_at < $1::timestamptz - interval '24 hours'
