-- Up to $5 published calls of the operator $1 after ($2, $3) and up to $4, oldest first, as they
-- were then: what was claimed later is left out. With the facts from which the scoring price and
-- the count follow: the quotes of the filing and after it, whether the operator created the
-- market, and the initial price of a native market.
SELECT r.id, r.public_id, r.handle, r.display_name, r.tier, r.market_id, r.market_title, r.lane, r.yes, r.price_bps,
    r.crowd_yes_bps, r.confidence, r.text_take, r.source, r.ttr, r.created_at, coalesce(x.status, 'pending'), x.score, x.resolved_at,
    x.outcome, x.close_price, x.clv_bps, coalesce(x.basis_bps, r.score_basis_bps), r.price_verified, r.rated, x.counted, r.market_yes_bps,
    r.closes_at, r.quote_at, x.confirmed_at, x.reason, r.score_basis_bps, coalesce(x.scoring_version, ''), coalesce(x.scoring_vertical, ''),
    m.initial_yes_bps, m.created_by IS NOT DISTINCT FROM r.user_id::text,
    q.yes_price_bps, q.no_price_bps, q.rule, q.answer_sha256, k.yes_price_bps, k.no_price_bps, k.rule, k.answer_sha256,
    c.outcome, c.resolver, c.source, c.proof_url, c.close_at, c.close_price, c.resolved_at, c.rated, c.decided_at, coalesce(d.disputed, false)
FROM (
    SELECT id, market_id, created_at FROM signals s
    WHERE user_id = $1 AND (created_at, id) > ($2::timestamptz, $3::uuid) AND created_at <= $4::timestamptz
       
    ORDER BY created_at, id LIMIT $5
) s
JOIN signal_records r ON r.id = s.id
LEFT JOIN signal_results x ON x.signal_id = s.id AND x.resolved_at <= $4::timestamptz
LEFT JOIN market_resolutions c ON c.market_id = s.market_id AND c.resolved_at <= $4::timestamptz
LEFT JOIN market_disputes d ON d.market_id = s.market_id
LEFT JOIN markets m ON m.market_id = s.market_id
LEFT JOIN quotes q ON q.market_id = s.market_id AND q.at = r.quote_at
LEFT JOIN quotes k ON k.market_id = s.market_id AND k.at = x.confirmed_at
ORDER BY s.created_at, s.id
