-- Binds a stream in the place of the one before, and publishes it when it differs, unless the
-- operator is withheld. approved: an administrator approved the operator. $1 market, $2 handle,
-- $3 url, $4 label, $5 now.
WITH before AS (
    SELECT url, label FROM streams WHERE market_id = $1 AND handle = $2
), bound AS (
    INSERT INTO streams (market_id, handle, url, label, updated_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (market_id, handle) DO UPDATE SET url = excluded.url, label = excluded.label, updated_at = excluded.updated_at
)
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT 'stream.bound', $5, $1, $2, jsonb_build_object('marketId', $1::text, 'handle', $2::text, 'url', $3::text, 'label', $4::text,
    'updatedAt', stamp($5::timestamptz), 'approved', EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = $2 AND p.status = 'approved'))::text
WHERE NOT EXISTS (SELECT FROM before WHERE url = $3 AND label = $4)
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = $2 AND p.withheld)
