-- The newest session of an operator. $1 handle.
SELECT id, handle, started_at, last_beat, ended_at, market_id, coalesce(own_url, ''), coalesce(hls_url, ''), aired, viewers, viewers_peak,
    signal_market, signal_name
FROM live_sessions
WHERE handle = $1
ORDER BY started_at DESC
LIMIT 1
