-- Puts a choice in the place of version $1; of several that do so at once the first stands.
INSERT INTO spotlight AS s (version, reason, show_id, market_id, title, yes_bps, lane, handle, hls_url, viewers, segment_id, started_at, expires_at, chosen_at)
VALUES ($1 + 1, $2, nullif($3::text, ''), $4, $5, $6, $7, nullif($8::text, ''), nullif($9::text, ''), $10, nullif($11::text, ''), $12, $13, $14)
ON CONFLICT (only_row) DO UPDATE SET
    version = excluded.version, reason = excluded.reason, show_id = excluded.show_id, market_id = excluded.market_id, title = excluded.title,
    yes_bps = excluded.yes_bps, lane = excluded.lane, handle = excluded.handle, hls_url = excluded.hls_url, viewers = excluded.viewers,
    segment_id = excluded.segment_id, started_at = excluded.started_at, expires_at = excluded.expires_at, chosen_at = excluded.chosen_at
WHERE s.version = $1
