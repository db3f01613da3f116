-- The next $2 operators behind $1, by id; null: from the first, and there are no more.
SELECT fill_records($1, $2)
