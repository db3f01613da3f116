SELECT v.id, v.public_id, v.provider_id, v.handle, v.display_name, v.tier, v.market_id, v.market_title, v.lane, v.yes, v.price_bps,
    v.crowd_yes_bps, v.confidence, v.text_take, v.source, v.ttr, v.created_at, v.status, v.score, v.resolved_at,
    v.outcome, v.close_price, v.clv_bps, v.scored_bps, v.price_verified, v.rated, v.counted, v.market_yes_bps, v.closes_at, v.quote_at,
    v.confirmed_at, v.reason, NULL::integer
FROM filed_records v WHERE v.market_id = $1 AND v.user_id = $2
ORDER BY v.unconfirmed LIMIT 1
