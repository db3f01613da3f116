INSERT INTO market_resolutions (market_id, outcome, resolver, source, proof_url, reason, finalized_by, payout,
    close_at, close_price, lane, resolved_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (market_id) DO NOTHING
