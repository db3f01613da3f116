-- $2, $3: read on after this place. As signal_records, with the market looked up once.
SELECT s.id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier, s.market_id, shown_title(s.market_id, s.market_title),
    coalesce((SELECT m.lane FROM markets m WHERE m.market_id = $1), 'OTHER'), s.yes, s.price_bps,
    s.crowd_yes_bps, s.confidence, shown_take(s.id, s.text_take), s.source, s.ttr, s.created_at, coalesce(r.status, 'pending'), r.score, r.resolved_at,
    r.outcome, r.close_price, r.clv_bps, coalesce(r.basis_bps, s.score_basis_bps), s.price_verified, s.rated, r.counted, s.market_yes_bps, s.closes_at,
    s.quote_at, r.confirmed_at, r.reason, NULL::integer
FROM signals s
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps, basis_bps, confirmed_at, reason, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
WHERE s.market_id = $1 AND (s.created_at, s.id) < ($2::timestamptz, $3::uuid)
ORDER BY s.created_at DESC, s.id DESC LIMIT $4
