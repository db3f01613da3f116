-- Declares unnest of several arrays for the analyzer of sqlc, which does not know it. This file is never executed.
CREATE FUNCTION unnest(VARIADIC anyarray) RETURNS SETOF record LANGUAGE sql;
