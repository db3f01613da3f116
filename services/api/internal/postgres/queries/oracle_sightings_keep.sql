-- Adds sightings ($1 kind, $2 window, $3 key, $4 since when) that are not kept yet
-- and drops others ($5, $6, $7).
WITH dropped AS (
    DELETE FROM movement_sightings s
    USING unnest($5::text[], $6::text[], $7::text[]) AS g (kind, span, key)
    WHERE s.kind = g.kind AND s.span = g.span AND s.key = g.key
)
INSERT INTO movement_sightings (kind, span, key, seen_at)
SELECT i.kind, i.span, i.key, i.seen_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS i (kind, span, key, seen_at)
ON CONFLICT (kind, span, key) DO NOTHING
