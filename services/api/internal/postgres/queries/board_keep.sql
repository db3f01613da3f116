-- Stores the rows of the operators that the feed up to $1 and the move of the window to $2 name.
INSERT INTO board_rows AS b (user_id, lane, tier, handle, score, won, lost, void, total,
    calls, takes, month_score, month_done, cast_all, cast_month, counted)
SELECT user_id, lane, tier, handle, score, won, lost, void, total,
    calls, takes, month_score, month_done, cast_all, cast_month, counted
FROM board_fresh(NULL, $2, $1)
ON CONFLICT (user_id, lane) DO UPDATE SET
    tier = excluded.tier, handle = excluded.handle, score = excluded.score, won = excluded.won, lost = excluded.lost,
    void = excluded.void, total = excluded.total, calls = excluded.calls, takes = excluded.takes,
    month_score = excluded.month_score, month_done = excluded.month_done,
    cast_all = excluded.cast_all, cast_month = excluded.cast_month, counted = excluded.counted
WHERE (b.tier, b.handle, b.score, b.won, b.lost, b.void, b.total, b.calls, b.takes, b.month_score, b.month_done, b.counted)
    IS DISTINCT FROM (excluded.tier, excluded.handle, excluded.score, excluded.won, excluded.lost, excluded.void,
        excluded.total, excluded.calls, excluded.takes, excluded.month_score, excluded.month_done, excluded.counted)
