-- The last column is the market's live YES price, at most ten minutes old. As
-- signal_records, with each market looked up once.
WITH top AS (
    SELECT o.signal_id, o.created_at, m.lane,
        CASE WHEN m.provider = 'manual' OR q.at >= $2::timestamptz - interval '10 minutes' THEN q.yes_bps END AS live
    FROM open_signals o
    CROSS JOIN LATERAL (SELECT provider, lane FROM markets WHERE market_id = o.market_id AND status = 'open' LIMIT 1) m
    LEFT JOIN LATERAL (SELECT yes_bps, at FROM market_quotes WHERE market_id = o.market_id LIMIT 1) q ON true
    ORDER BY o.created_at DESC, o.signal_id DESC LIMIT $1
)
SELECT s.id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier, s.market_id, shown_title(s.market_id, s.market_title), top.lane, s.yes, s.price_bps,
    s.crowd_yes_bps, s.confidence, shown_take(s.id, s.text_take), s.source, s.ttr, s.created_at, coalesce(r.status, 'pending'), r.score, r.resolved_at,
    r.outcome, r.close_price, r.clv_bps, coalesce(r.basis_bps, s.score_basis_bps), s.price_verified, s.rated, r.counted, s.market_yes_bps, s.closes_at,
    s.quote_at, r.confirmed_at, r.reason, top.live
FROM top
JOIN signals s ON s.id = top.signal_id
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps, basis_bps, confirmed_at, reason, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
ORDER BY top.created_at DESC, top.signal_id DESC
