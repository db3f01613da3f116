-- The rows whose edge is due to be right: nothing moved their operator, and no mark waits.
SELECT b.user_id, b.lane, b.skill_calls, b.edge_bps, b.low_bps, b.high_bps
FROM board_rows b
WHERE NOT EXISTS (SELECT FROM board_due d WHERE d.user_id = b.user_id AND d.lane = b.lane)
    AND b.user_id NOT IN (SELECT user_id FROM board_fresh('', (SELECT since FROM board_state), NULL))
ORDER BY b.user_id, b.lane
