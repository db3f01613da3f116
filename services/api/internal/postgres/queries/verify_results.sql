-- Every call that was won or lost, from signals and results alone.
SELECT s.user_id, r.scoring_vertical, s.score_basis_bps, coalesce(s.confidence, 0), r.status = 'won'
FROM signals s JOIN signal_results r ON r.signal_id = s.id
WHERE r.status <> 'void'
