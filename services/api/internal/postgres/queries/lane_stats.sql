SELECT lane, won, lost, void, score FROM operator_lane_scores WHERE user_id = $1 ORDER BY lane
