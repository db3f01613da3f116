-- By their places: no row of this table ever moves, and one process folds.
DELETE FROM board_due WHERE ctid = ANY (ARRAY(SELECT ctid FROM board_due LIMIT $1)) RETURNING user_id, lane
