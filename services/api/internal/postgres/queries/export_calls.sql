-- Up to $5 calls of the operator $1 behind ($2, $3) and up to $4, oldest first. The
-- snapshot is the newest stored price before the call, which is what the filing looked
-- at; old ones are thinned, and then there is none.
SELECT r.id, r.public_id, r.handle, r.display_name, r.tier, r.market_id, r.market_title, r.lane, r.yes, r.price_bps,
    r.crowd_yes_bps, r.confidence, r.text_take, r.source, r.ttr, r.created_at, r.status, r.score, r.resolved_at,
    r.outcome, r.close_price, r.clv_bps, r.score_basis_bps, s.price_verified, p.yes_bps, p.at,
    coalesce(x.scoring_version, ''), coalesce(x.scoring_vertical, ''),
    c.outcome, c.resolver, c.source, c.proof_url, c.close_at, c.close_price, c.resolved_at, coalesce(d.disputed, false)
FROM (
    SELECT id, market_id, price_verified, created_at FROM signals
    WHERE user_id = $1 AND (created_at, id) > ($2::timestamptz, $3::uuid) AND created_at <= $4::timestamptz
    ORDER BY created_at, id LIMIT $5
) s
JOIN signal_records r ON r.id = s.id
LEFT JOIN signal_results x ON x.signal_id = s.id
LEFT JOIN market_resolutions c ON c.market_id = s.market_id
LEFT JOIN market_disputes d ON d.market_id = s.market_id
LEFT JOIN LATERAL (
    SELECT yes_bps, at FROM market_prices
    WHERE market_id = s.market_id AND at < s.created_at
        AND (at >= s.created_at - interval '15 minutes' OR s.market_id LIKE 'native-%')
    ORDER BY at DESC LIMIT 1
) p ON s.price_verified
ORDER BY s.created_at, s.id
