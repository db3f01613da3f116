-- Marks a clip as ready and publishes it, unless its operator is suspended. $1 id, $2 url, $3 thumbnail or empty, $4 seconds, $5 now.
WITH done AS (
    UPDATE clips
    SET status = 'ready', url = $2, thumbnail_url = nullif($3::text, ''), duration_s = $4, ready_at = $5, lease_until = NULL
    WHERE id = $1 AND status = 'processing'
    RETURNING *
)
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT 'clip.ready', ready_at, market_id, handle, (jsonb_build_object(
    'id', id, 'handle', handle, 'marketId', market_id, 'url', url, 'thumbnailUrl', thumbnail_url, 'durationS', duration_s,
    'status', status, 'stance', stance, 'views', views, 'boosted', boosted, 'createdBy', created_by,
    'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'readyAt', to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
) || CASE WHEN title IS NULL THEN '{}' ELSE jsonb_build_object('title', title) END)::text
FROM done
WHERE NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = done.handle AND p.status = 'suspended')
