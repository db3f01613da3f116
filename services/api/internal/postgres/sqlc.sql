-- Declares for sqlc the function unnest with several arrays, which its analyzer does not support. This file is never
-- executed.
CREATE FUNCTION unnest(VARIADIC anyarray) RETURNS SETOF record LANGUAGE sql;
