SELECT r.outcome, r.resolver, r.source, r.proof_url, r.resolved_at,
    coalesce(d.disputed, false), CASE WHEN d.disputed THEN d.reason END, CASE WHEN d.disputed THEN d.disputed_at END
FROM (SELECT $1::text AS market_id) k
LEFT JOIN market_resolutions r ON r.market_id = k.market_id
LEFT JOIN market_disputes d ON d.market_id = k.market_id
WHERE r.market_id IS NOT NULL OR d.disputed
