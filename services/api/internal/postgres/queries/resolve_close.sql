-- The closing line (contract 4.2.3): the last snapshot at or before the close.
SELECT yes_bps FROM market_prices WHERE market_id = $1 AND at <= $2 ORDER BY at DESC LIMIT 1
