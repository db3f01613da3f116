-- Recomputes the records of the next $2 operators after $1, by id; null: from the first, and after the last.
SELECT fill_records($1, $2)
