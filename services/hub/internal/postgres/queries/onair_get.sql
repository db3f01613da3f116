-- One session. $1 handle, $2 id.
SELECT id, handle, started_at, last_beat, ended_at, market_id, coalesce(own_url, ''), coalesce(hls_url, ''), aired, viewers, viewers_peak,
    signal_market, signal_name
FROM live_sessions
WHERE handle = $1 AND id = $2
