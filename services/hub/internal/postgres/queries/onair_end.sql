-- Ends a session. $1 id, $2 the end, $3 now.
WITH over AS (
    SELECT o.market_id, o.name FROM live_sessions s JOIN overlay_signals o ON o.handle = s.handle
    WHERE s.id = $1 AND o.market_id IS NOT NULL AND o.expires_at > $3
), ended AS (
    UPDATE live_sessions SET ended_at = greatest($2::timestamptz, started_at), viewers = 0,
        signal_market = (SELECT market_id FROM over), signal_name = (SELECT name FROM over)
    WHERE id = $1 AND ended_at IS NULL
    RETURNING broadcast_id
)
UPDATE broadcasts b SET state = 'ended' FROM ended e WHERE b.id = e.broadcast_id AND b.state = 'live'
