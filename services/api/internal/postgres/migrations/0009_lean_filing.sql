-- Whether a market has calls is read from its counters, so the open list is
-- written without a second index.
DROP INDEX open_signals_market;

-- Whether an operator counts as crowd stands in the row that each filing of it locks,
-- so that a filing and a change of what the operator is are never counted by halves.
ALTER TABLE operator_totals ADD COLUMN crowd boolean NOT NULL DEFAULT true;
UPDATE operator_totals t SET crowd = false FROM users u WHERE u.id = t.user_id AND NOT u.crowd;
