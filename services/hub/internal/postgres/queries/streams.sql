-- name: BindStream :exec
-- Replaces the stream of an operator on a market. Publishes it if it changed, unless the operator is withheld.
WITH before AS (
    SELECT s.url, s.label FROM streams s WHERE s.market_id = @market_id AND s.handle = @handle
), bound AS (
    INSERT INTO streams (market_id, handle, url, label, updated_at)
    VALUES (@market_id, @handle, @url, @label, @now)
    ON CONFLICT (market_id, handle) DO UPDATE SET url = excluded.url, label = excluded.label, updated_at = excluded.updated_at
)
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT 'stream.bound', @now::timestamptz, @market_id::text, @handle::text, jsonb_build_object(
    'marketId', @market_id::text, 'handle', @handle::text, 'url', @url::text, 'label', @label::text,
    'updatedAt', stamp(@now::timestamptz),
    'approved', EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = @handle AND p.status = 'approved'))::text
WHERE NOT EXISTS (SELECT FROM before b WHERE b.url = @url AND b.label = @label)
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = @handle AND p.withheld);

-- name: UnbindStream :one
-- Deletes the stream of an operator on a market, or all streams of the operator if @market_id is empty, and publishes the deletion.
-- Returns the number of deleted streams.
WITH deleted AS (
    DELETE FROM streams s WHERE (@market_id::text = '' OR s.market_id = @market_id) AND s.handle = @handle RETURNING s.market_id
), published AS (
    INSERT INTO outbox (type, at, market_id, handle, data)
    SELECT 'stream.unbound', @now::timestamptz, d.market_id, @handle,
        jsonb_build_object('marketId', d.market_id, 'handle', @handle::text)::text
    FROM deleted d
)
SELECT count(*) FROM deleted;

-- name: ListStreams :many
-- Returns the streams of a market, newest first, without those of withheld operators.
SELECT s.market_id, s.handle, s.url, s.label, s.updated_at
FROM streams s
WHERE s.market_id = @market_id AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = s.handle AND p.withheld)
ORDER BY s.updated_at DESC, s.handle
LIMIT @max_rows;

-- name: GetNewestStream :one
-- Returns the stream that an operator bound last, unless the operator is withheld.
SELECT s.url
FROM streams s
WHERE s.handle = @handle AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = @handle AND p.withheld)
ORDER BY s.updated_at DESC, s.market_id
LIMIT 1;

-- name: PublishStreams :exec
-- Publishes the streams of an operator after a decision: as bound, or as unbound if the operator is withheld.
INSERT INTO outbox (type, at, market_id, handle, data)
SELECT CASE WHEN p.withheld THEN 'stream.unbound' ELSE 'stream.bound' END, @now::timestamptz, s.market_id, s.handle, (
    jsonb_build_object('marketId', s.market_id, 'handle', s.handle) || CASE WHEN p.withheld THEN '{}' ELSE
    jsonb_build_object('url', s.url, 'label', s.label, 'updatedAt', stamp(s.updated_at), 'approved', p.status = 'approved')
    END)::text
FROM streams s
JOIN streamer_profiles p ON p.handle = s.handle
WHERE s.handle = @handle
ORDER BY s.market_id;

-- name: GetIngestStream :one
SELECT sqlc.embed(i) FROM ingest_streams i WHERE i.handle = @handle;

-- name: GetIngestStreamByKey :one
SELECT sqlc.embed(i) FROM ingest_streams i WHERE i.key_hash = @key_hash;

-- name: InsertIngestStream :execrows
-- Stores the first stream of an operator. It names no conflict target, because concurrent inserts can conflict on
-- either key.
INSERT INTO ingest_streams (handle, id, provider, remote_id, key_hash, hls_url, label, latency, created_at, rotated_at, version)
VALUES (@handle, @id, @provider, @remote_id, @key_hash, @hls_url, @label, @latency, @created_at, @rotated_at, @version)
ON CONFLICT DO NOTHING;

-- name: UpdateIngestStream :execrows
-- Replaces a stream if it still has the given version.
UPDATE ingest_streams
SET provider = @provider, remote_id = @remote_id, key_hash = @key_hash, hls_url = @hls_url, label = @label, latency = @latency,
    rotated_at = @rotated_at, version = @version
WHERE handle = @handle AND version = @version_before;
