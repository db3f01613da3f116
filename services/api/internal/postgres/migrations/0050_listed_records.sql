-- A call with its result as signal_records has it, without a read of its market: lane is empty. A list that has read the market
-- sets the lane of its calls itself.
CREATE VIEW listed_records AS
SELECT s.id, s.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier,
    s.market_id, shown_title(s.market_id, s.market_title) AS market_title, ''::text AS lane,
    s.yes, s.price_bps, s.score_basis_bps, s.crowd_yes_bps, s.confidence, shown_take(s.id, s.text_take) AS text_take, s.source,
    s.ttr, s.created_at,
    coalesce(r.status, 'pending') AS status, r.score, r.resolved_at, r.outcome, r.close_price, r.clv_bps,
    coalesce(r.basis_bps, s.score_basis_bps) AS scored_bps, s.price_verified, s.rated, s.market_yes_bps, s.closes_at, s.quote_at,
    r.confirmed_at, r.reason, CASE WHEN r.status IS NOT NULL THEN r.counted AND r.status <> 'void' END AS counted,
    false AS unconfirmed
FROM signals s
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps, basis_bps, confirmed_at, reason, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true;
GRANT SELECT ON listed_records TO api_rw;

CREATE OR REPLACE VIEW signal_records AS
SELECT v.id, v.user_id, v.public_id, v.provider_id, v.handle, v.display_name, v.tier, v.market_id, v.market_title,
    coalesce(m.lane, 'OTHER') AS lane, v.yes, v.price_bps, v.score_basis_bps, v.crowd_yes_bps, v.confidence, v.text_take,
    v.source, v.ttr, v.created_at, v.status, v.score, v.resolved_at, v.outcome, v.close_price, v.clv_bps, v.scored_bps,
    v.price_verified, v.rated, v.market_yes_bps, v.closes_at, v.quote_at, v.confirmed_at, v.reason, v.counted, v.unconfirmed
FROM listed_records v
LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = v.market_id LIMIT 1) m ON true;
