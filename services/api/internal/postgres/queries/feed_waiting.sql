-- How many rows the outbox shows, up to $1.
SELECT count(*) FROM (SELECT FROM outbox LIMIT $1) o
