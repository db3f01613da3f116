-- The overlay signal of an operator. $1 handle, $2 now.
SELECT market_id, name, yes_pct, slug, annotation, closes_at, updated_at
FROM shown_overlays WHERE handle = $1 AND market_id IS NOT NULL AND expires_at > $2
