-- Starts a session behind the end of the one before, so that the newest is the one that
-- started last. $1 id, $2 handle, $3 now, $4 market or null, $5 own url, empty or null for
-- none, $6 broadcast or null, $7 bitrate or null, $8 viewers as the client says or null.
INSERT INTO live_sessions (id, handle, started_at, last_beat, market_id, own_url, broadcast_id, bitrate_kbps, reported_viewers)
SELECT $1, $2, t.at, t.at, $4, nullif($5::text, ''), $6, $7, $8
FROM (SELECT greatest($3::timestamptz, (
    SELECT ended_at + interval '1 microsecond' FROM live_sessions WHERE handle = $2 ORDER BY started_at DESC LIMIT 1)) AS at) t
