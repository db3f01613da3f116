-- Where a look at the calls before ($1, $2) on one market ends: the $3rd of them.
SELECT s.created_at, s.id FROM signals s
WHERE (s.created_at, s.id) < ($1::timestamptz, $2::uuid) AND s.market_id = $4
ORDER BY s.created_at DESC, s.id DESC OFFSET $3 - 1 LIMIT 1
