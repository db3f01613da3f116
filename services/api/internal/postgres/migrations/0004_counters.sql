-- What boards, crowd and pulse read. Filing moves the totals, a claim moves the
-- scores; the two never touch each other's rows, so they never wait for each other.
CREATE TABLE market_totals (
    market_id text PRIMARY KEY,
    yes       bigint NOT NULL DEFAULT 0,
    no        bigint NOT NULL DEFAULT 0,
    crowd_yes bigint NOT NULL DEFAULT 0, -- operators that count as crowd
    crowd_no  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE operator_totals (
    user_id uuid PRIMARY KEY,
    total   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE TABLE operator_scores (
    user_id   uuid PRIMARY KEY,
    won       bigint NOT NULL DEFAULT 0,
    lost      bigint NOT NULL DEFAULT 0,
    void      bigint NOT NULL DEFAULT 0,
    score     bigint NOT NULL DEFAULT 0,
    clv_sum   bigint NOT NULL DEFAULT 0,
    clv_count bigint NOT NULL DEFAULT 0,
    beat_line bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The same by lane; moved after the claim, in the chunks that number its feed rows.
CREATE TABLE operator_lane_scores (
    user_id uuid NOT NULL,
    lane    text NOT NULL,
    won     bigint NOT NULL DEFAULT 0,
    lost    bigint NOT NULL DEFAULT 0,
    void    bigint NOT NULL DEFAULT 0,
    score   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, lane)
) WITH (fillfactor = 50);

-- Claims whose scoring goes on after their commit (more signals than one
-- transaction takes). A crash leaves the row, a scan finishes it.
CREATE TABLE score_drains (
    market_id  text PRIMARY KEY,
    after_user uuid, -- the last operator scored; null: none yet
    created_at timestamptz NOT NULL
);

GRANT SELECT, INSERT, UPDATE ON market_totals, operator_totals, operator_scores, operator_lane_scores TO api_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON score_drains TO api_rw;
