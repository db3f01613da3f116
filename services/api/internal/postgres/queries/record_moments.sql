SELECT m.id, m.tier, m.signal_id, m.market_id, shown_title(s.market_id, s.market_title), s.yes, m.odds_bps, m.score, m.minted_at
FROM moments m JOIN signals s ON s.id = m.signal_id
WHERE m.user_id = $1 AND EXISTS (SELECT FROM signal_results r WHERE r.signal_id = m.signal_id AND r.counted)
ORDER BY m.minted_at DESC, m.signal_id DESC LIMIT $2
