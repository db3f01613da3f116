-- A statement of its own after the line: the one that waited in it sees what
-- committed meanwhile.
SELECT count(*) FROM apps WHERE owner_id = $1 AND disabled_at IS NULL
