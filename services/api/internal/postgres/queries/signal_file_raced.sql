-- What a filing lost to: the caller's first call on the market, and whether the
-- idempotency key it sent belongs to that very call.
SELECT s.id, s.id = $3 OR coalesce(k.body_hash = $5, false)
FROM signals s
LEFT JOIN idempotency_keys k ON k.user_id = s.user_id AND k.key = $4 AND k.result_id = s.id
WHERE s.market_id = $1 AND s.user_id = $2
