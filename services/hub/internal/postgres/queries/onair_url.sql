-- Where the viewers of a session are sent: to what its go-live named, else to the stream
-- bound to the market that is spoken of, else to the one that was provisioned ($3, empty:
-- none), else to the newest that is bound. $1 handle, $2 session, $4 now. Empty: nowhere, as
-- for every session of a withheld operator.
SELECT CASE WHEN EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = $1 AND p.withheld) THEN '' ELSE coalesce(
    s.own_url,
    (SELECT b.url FROM streams b WHERE b.handle = $1 AND b.market_id = coalesce(s.market_id,
        (SELECT o.market_id FROM overlay_signals o WHERE o.handle = $1 AND o.expires_at > $4))),
    nullif($3::text, ''),
    (SELECT b.url FROM streams b WHERE b.handle = $1 ORDER BY b.updated_at DESC, b.market_id LIMIT 1),
    '') END
FROM live_sessions s WHERE s.id = $2
