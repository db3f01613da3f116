-- The calls before ($1, $2) down to ($3, $4) of one operator as its own reads show them, with
-- unconfirmed ones, newest first, at most $5. $6 lane, $7 status; empty: any. $8 handle.
SELECT v.id, v.public_id, v.provider_id, v.handle, v.display_name, v.tier, v.market_id, v.market_title, v.lane, v.yes, v.price_bps,
    v.crowd_yes_bps, v.confidence, v.text_take, v.source, v.ttr, v.created_at, v.status, v.score, v.resolved_at,
    v.outcome, v.close_price, v.clv_bps, v.scored_bps, v.price_verified, v.rated, v.counted, v.market_yes_bps, v.closes_at, v.quote_at,
    v.confirmed_at, v.reason, NULL::integer
FROM filed_records v
WHERE (v.created_at, v.id) < ($1::timestamptz, $2::uuid) AND (v.created_at, v.id) >= ($3::timestamptz, $4::uuid)
    AND ($6 = '' OR v.lane = $6) AND ($7 = '' OR v.status = $7)
    AND v.user_id = (SELECT id FROM users WHERE handle = $8)
ORDER BY v.created_at DESC, v.id DESC LIMIT $5
