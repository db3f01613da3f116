-- Declares for sqlc what its analyzer does not know: unnest of several arrays. It is never run.
CREATE FUNCTION unnest(VARIADIC anyarray) RETURNS SETOF record LANGUAGE sql;
