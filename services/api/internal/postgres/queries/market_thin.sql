-- Snapshots before $1 are thinned to the last one of each fifteen minutes, at
-- most $2 rows at a time.
DELETE FROM market_prices WHERE (market_id, at) IN (
    SELECT p.market_id, p.at FROM market_prices p
    WHERE p.at < $1 AND EXISTS (
        SELECT FROM market_prices later
        WHERE later.market_id = p.market_id AND later.at > p.at
            AND date_bin('15 minutes', later.at, 'epoch') = date_bin('15 minutes', p.at, 'epoch')
            AND later.at < $1)
    LIMIT $2)
