-- When an independent operator filed last, up to $1, and the claims of the 28 days before.
SELECT (SELECT s.created_at FROM signals s JOIN users u ON u.id = s.user_id AND u.tier = 'independent'
        WHERE s.created_at < $1 ORDER BY s.created_at DESC LIMIT 1),
    (SELECT count(*) FROM market_resolutions WHERE resolved_at >= $1::timestamptz - interval '672 hours' AND resolved_at <= $1)
