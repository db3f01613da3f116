-- Declares unnest of several arrays, which the analyzer of sqlc does not support. sqlc reads this file; no database executes it.
CREATE FUNCTION unnest(VARIADIC anyarray) RETURNS SETOF record LANGUAGE sql;
