-- name: ListPins :many
SELECT market_id, label, tagline, position, created_at
FROM pins
ORDER BY position, created_at, market_id
LIMIT @max_rows;

-- name: UpsertPin :one
-- Creates the pin of a market, or changes its texts and position.
INSERT INTO pins (market_id, label, tagline, position, created_at)
VALUES (@market_id, @label, @tagline, @position, @created_at)
ON CONFLICT (market_id) DO UPDATE SET label = excluded.label, tagline = excluded.tagline, position = excluded.position
RETURNING created_at;

-- name: DeletePin :execrows
DELETE FROM pins WHERE market_id = @market_id;

-- name: GetSpotlight :one
SELECT version, reason, coalesce(show_id, '') AS show_id, market_id, title, yes_bps, lane, coalesce(handle, '')::text AS handle,
    coalesce(hls_url, '') AS hls_url, viewers, coalesce(segment_id, '') AS segment_id, started_at, expires_at, chosen_at
FROM spotlight;

-- name: ReplaceSpotlight :exec
-- Replaces the spotlight if it still has the given version. Of several concurrent replacements the first one wins.
INSERT INTO spotlight AS s (
    version, reason, show_id, market_id, title, yes_bps, lane, handle, hls_url, viewers, segment_id, started_at, expires_at,
    chosen_at
)
SELECT
    sqlc.arg(version)::bigint + 1, @reason, nullif(@show_id::text, ''), @market_id, @title, @yes_bps, @lane,
    nullif(@handle::text, ''), nullif(@hls_url::text, ''), @viewers, nullif(@segment_id::text, ''), @started_at, @expires_at,
    @chosen_at
ON CONFLICT (only_row) DO UPDATE SET
    version = excluded.version, reason = excluded.reason, show_id = excluded.show_id, market_id = excluded.market_id,
    title = excluded.title, yes_bps = excluded.yes_bps, lane = excluded.lane, handle = excluded.handle,
    hls_url = excluded.hls_url, viewers = excluded.viewers, segment_id = excluded.segment_id, started_at = excluded.started_at,
    expires_at = excluded.expires_at, chosen_at = excluded.chosen_at
WHERE s.version = @version::bigint;

-- name: GetShortLink :one
SELECT code, type, id FROM short_links WHERE code = @code;

-- name: InsertShortLink :one
-- Returns the code of a target: its existing code, else the given one. Returns no row if another target has the given
-- code.
WITH added AS (
    INSERT INTO short_links (code, type, id) VALUES (@code, @type, @id) ON CONFLICT DO NOTHING RETURNING code
)
SELECT code FROM added
UNION ALL
SELECT l.code FROM short_links l WHERE l.type = @type AND l.id = @id
LIMIT 1;
