-- The prices of calls $1 as their filing stored them. The sides of a quote come from the row
-- stored with the call; those of a native market follow from the crowd's price at the call.
SELECT s.id, s.price_bps, s.score_basis_bps, s.price_verified, s.rated, s.market_yes_bps,
    coalesce(r.yes_price_bps, CASE WHEN m.provider = 'manual' THEN greatest(s.market_yes_bps, m.initial_yes_bps) END),
    coalesce(r.no_price_bps, CASE WHEN m.provider = 'manual' THEN 10000 - least(s.market_yes_bps, m.initial_yes_bps) END)
FROM signals s
LEFT JOIN quotes r ON r.market_id = s.market_id AND r.at = s.quote_at
LEFT JOIN markets m ON m.market_id = s.market_id
WHERE s.id = ANY ($1::uuid[])
UNION ALL
SELECT w.signal_id, w.price_bps, w.price_bps, false, false, NULL, NULL, NULL
FROM unconfirmed_signals w WHERE w.signal_id = ANY ($1::uuid[])
