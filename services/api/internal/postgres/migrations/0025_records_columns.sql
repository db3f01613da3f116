---- tern: disable-tx ----
-- Each table by itself: whoever reads or writes one waits for one change, not for all.

-- price_sum: of the sides called, as they were scored, over won and lost. The streak is
-- the run of wins that ends with the last of both, which was resolved at last_at.
ALTER TABLE operator_scores
    ADD COLUMN IF NOT EXISTS price_sum   bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS best_bps    integer,
    ADD COLUMN IF NOT EXISTS best_signal uuid,
    ADD COLUMN IF NOT EXISTS streak      bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS last_at     timestamptz;
ALTER TABLE operator_lane_scores ADD COLUMN IF NOT EXISTS price_sum bigint NOT NULL DEFAULT 0;

-- How good the record of a row is, as of the last time that it was worked out; the
-- rows to work out again are in board_due.
ALTER TABLE board_rows
    ADD COLUMN IF NOT EXISTS skill_calls bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS edge_bps    integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS low_bps     integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS high_bps    integer NOT NULL DEFAULT 0;
