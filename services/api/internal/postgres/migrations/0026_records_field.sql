-- In a transaction of its own, and without a lock that a read would wait for: only the
-- fold of the boards waits while board_rows is gone through.
CREATE INDEX board_rows_edge ON board_rows (lane, tier, low_bps DESC, edge_bps DESC, skill_calls DESC, handle) WHERE skill_calls > 0;
CREATE TRIGGER count_field_insert AFTER INSERT ON board_rows
    REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION count_field();
CREATE TRIGGER count_field_update AFTER UPDATE ON board_rows
    REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION count_field();
CREATE TRIGGER count_field_delete AFTER DELETE ON board_rows
    REFERENCING OLD TABLE AS before_rows FOR EACH STATEMENT EXECUTE FUNCTION count_field();

INSERT INTO board_field (tier, score, operators)
SELECT tier, score, count(*) FROM board_rows WHERE lane = '' AND won + lost > 0 GROUP BY tier, score;
