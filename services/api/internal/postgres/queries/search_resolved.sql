-- Markets of provider $1 with an outcome, the newest first, behind ($2, $3), at
-- most $4.
SELECT r.market_id, m.title, r.outcome, r.resolved_at, r.close_price, q.volume_usd, coalesce(t.yes + t.no, 0)
FROM market_resolutions r
JOIN markets m ON m.market_id = r.market_id
LEFT JOIN market_quotes q ON q.market_id = r.market_id
LEFT JOIN market_totals t ON t.market_id = r.market_id
WHERE m.provider = $1 AND (r.resolved_at, r.market_id) < ($2::timestamptz, $3::text)
ORDER BY r.resolved_at DESC, r.market_id DESC
LIMIT $4
