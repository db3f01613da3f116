-- The last column is the market's live YES price, at most ten minutes old.
WITH top AS (
    SELECT o.signal_id, o.created_at,
        CASE WHEN m.provider = 'manual' OR q.at >= $2::timestamptz - interval '10 minutes' THEN q.yes_bps END AS live
    FROM open_signals o
    JOIN markets m ON m.market_id = o.market_id AND m.status = 'open'
    LEFT JOIN market_quotes q ON q.market_id = o.market_id
    ORDER BY o.created_at DESC, o.signal_id DESC LIMIT $1
)
SELECT v.id, v.public_id, v.provider_id, v.handle, v.display_name, v.tier, v.market_id, v.market_title, v.lane, v.yes, v.price_bps,
    v.crowd_yes_bps, v.confidence, v.text_take, v.source, v.ttr, v.created_at, v.status, v.score, v.resolved_at,
    v.outcome, v.close_price, v.clv_bps, top.live
FROM top JOIN signal_records v ON v.id = top.signal_id
ORDER BY top.created_at DESC, top.signal_id DESC
