-- Takes what the window leaves behind into the aged counters and moves its start.
WITH aged AS (
    INSERT INTO operator_aged AS a (user_id, lane, calls, takes, score, done)
    SELECT user_id, lane, calls, takes, score, done FROM board_edge($2)
    ON CONFLICT (user_id, lane) DO UPDATE SET
        calls = a.calls + excluded.calls, takes = a.takes + excluded.takes,
        score = a.score + excluded.score, done = a.done + excluded.done
)
UPDATE board_state SET seq = $1, since = $2
