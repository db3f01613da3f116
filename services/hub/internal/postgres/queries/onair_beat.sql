-- Keeps a session going. $1 id, $2 now, $3 market, $4 own url (empty: none), $5 broadcast, $6 bitrate,
-- $7 viewers as the client says; null leaves what was said before.
UPDATE live_sessions SET last_beat = greatest(last_beat, $2), market_id = coalesce($3, market_id), own_url = CASE WHEN $4::text IS NULL THEN own_url ELSE nullif($4, '') END,
    broadcast_id = coalesce($5, broadcast_id), bitrate_kbps = coalesce($6, bitrate_kbps), reported_viewers = coalesce($7, reported_viewers)
WHERE id = $1
