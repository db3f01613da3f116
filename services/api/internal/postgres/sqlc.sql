-- Declares for sqlc what its analyzer does not know. It is never run.
CREATE FUNCTION unnest(anyarray, anyarray) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(anyarray, anyarray, anyarray) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(anyarray, anyarray, anyarray, anyarray) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(anyarray, anyarray, anyarray, anyarray, anyarray) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(anyarray, anyarray, anyarray, anyarray, anyarray, anyarray) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(
    anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray
) RETURNS SETOF record LANGUAGE sql;
CREATE FUNCTION unnest(
    anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray,
    anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray, anyarray
) RETURNS SETOF record LANGUAGE sql;
