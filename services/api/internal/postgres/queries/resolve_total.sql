-- How many signals a claim settles. A statement of its own after the lock: the
-- snapshot of the statement that waited for the lock is older than the last filing.
SELECT yes + no FROM market_totals WHERE market_id = $1
