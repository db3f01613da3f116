-- $1 handle, $2 market or null, $3 name, $4 yes, $5 slug, $6 annotation, $7 closes, $8 now, $9 until.
INSERT INTO overlay_signals AS o (handle, market_id, name, yes_pct, slug, annotation, closes_at, updated_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (handle) DO UPDATE SET market_id = excluded.market_id, name = excluded.name, yes_pct = excluded.yes_pct, slug = excluded.slug,
    annotation = excluded.annotation, closes_at = excluded.closes_at, expires_at = excluded.expires_at,
    updated_at = greatest(excluded.updated_at, o.updated_at + interval '1 microsecond')
RETURNING updated_at
