-- What filings lost to: the caller's first call on the market, and whether the
-- idempotency key it sent belongs to that very call. It runs after the locks of the
-- filing were waited for, so it sees what was written meanwhile.
SELECT i.n, s.id, s.id = i.id OR coalesce(k.body_hash = i.body_hash, false)
FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::text[], $5::bytea[])
    WITH ORDINALITY AS i (market_id, user_id, id, idem_key, body_hash, n)
CROSS JOIN LATERAL (
    SELECT id, user_id FROM (
        SELECT id, user_id, false AS unconfirmed FROM signals WHERE market_id = i.market_id AND user_id = i.user_id
        UNION ALL
        SELECT signal_id, user_id, true FROM unconfirmed_signals WHERE market_id = i.market_id AND user_id = i.user_id
    ) c ORDER BY unconfirmed LIMIT 1
) s
LEFT JOIN idempotency_keys k ON k.user_id = s.user_id AND k.key = i.idem_key AND k.result_id = s.id
