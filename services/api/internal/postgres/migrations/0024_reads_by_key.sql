-- The same record, each part of it looked up by its key. How many signals a read wants is
-- not known when it is planned, and joins that are planned for a tenth of all of them walk
-- through every user and market for a page of fifty.
CREATE OR REPLACE VIEW signal_records AS
SELECT s.id, s.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier,
    s.market_id, s.market_title, coalesce(m.lane, 'OTHER') AS lane,
    s.yes, s.price_bps, s.score_basis_bps, s.crowd_yes_bps, s.confidence, s.text_take, s.source, s.ttr, s.created_at,
    coalesce(r.status, 'pending') AS status, r.score, r.resolved_at, r.outcome, r.close_price, r.clv_bps
FROM signals s
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id LIMIT 1) m ON true;
