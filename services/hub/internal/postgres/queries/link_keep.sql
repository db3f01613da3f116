-- The code of the thing ($2, $3): the one that it has, else $1 if that is free.
WITH added AS (
    INSERT INTO short_links (code, type, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING code
)
SELECT code FROM added
UNION ALL
SELECT code FROM short_links WHERE type = $2 AND id = $3
LIMIT 1
