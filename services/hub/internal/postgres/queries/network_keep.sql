-- The copy of one read; an older one never takes the place of a younger one.
INSERT INTO partner_copies AS c (origin, kind, rows, at) VALUES ($1, $2, $3, $4)
ON CONFLICT (origin, kind) DO UPDATE SET rows = excluded.rows, at = excluded.at WHERE c.at <= excluded.at
