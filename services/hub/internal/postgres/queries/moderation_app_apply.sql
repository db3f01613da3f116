-- Writes the text of an application again; a trigger leaves it out while it is hidden. $1 app,
-- $2 original.
UPDATE apps SET name = $2::jsonb ->> 'name', homepage = $2::jsonb ->> 'homepage', logo_url = $2::jsonb ->> 'logo_url' WHERE id = $1
