DELETE FROM board_due d
USING (SELECT user_id, lane FROM board_due LIMIT $1) n
WHERE d.user_id = n.user_id AND d.lane = n.lane
RETURNING d.user_id, d.lane
