-- Recomputes the board rows of the next $2 operators after $1, by id; null: from the first, and after the last.
SELECT fill_boards($1, $2)
