-- Every counted call on a venue market, from signals and results alone.
SELECT s.user_id, r.scoring_vertical, coalesce(r.basis_bps, s.score_basis_bps), coalesce(s.confidence, 0), r.status = 'won'
FROM signals s JOIN signal_results r ON r.signal_id = s.id
WHERE r.counted AND s.market_id NOT LIKE 'native-%'
