-- A signal as it reads: the row that was filed joined with what came of it.
CREATE VIEW signal_records AS
SELECT s.id, s.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier,
    s.market_id, s.market_title, coalesce(m.lane, 'OTHER') AS lane,
    s.yes, s.price_bps, s.score_basis_bps, s.crowd_yes_bps, s.confidence, s.text_take, s.source, s.ttr, s.created_at,
    coalesce(r.status, 'pending') AS status, r.score, r.resolved_at, r.outcome, r.close_price, r.clv_bps
FROM signals s
JOIN users u ON u.id = s.user_id
LEFT JOIN signal_results r ON r.signal_id = s.id
LEFT JOIN markets m ON m.market_id = s.market_id;

CREATE INDEX signals_market ON signals (market_id, created_at DESC, id DESC);

GRANT SELECT ON signal_records TO api_rw;
