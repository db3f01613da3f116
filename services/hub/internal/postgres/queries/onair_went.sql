-- The session that a message started or went on with. $1 message.
SELECT id, handle, started_at, last_beat, ended_at, market_id, coalesce(own_url, ''), coalesce(hls_url, ''), aired, viewers, viewers_peak,
    signal_market, signal_name
FROM live_sessions
WHERE id = (SELECT session_id FROM go_lives WHERE message_id = $1)
