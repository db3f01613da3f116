-- A native market with its first quote and snapshot.
WITH market AS (
    INSERT INTO markets (market_id, provider, title, description, status, end_date, lane, category, resolves_by,
        resolution_source, initial_yes_bps, created_by, created_at, updated_at)
    VALUES ($1, 'manual', $2, $3, 'open', $4, $5, $6, $7, $8, $9, $10, $11, $11)
    RETURNING market_id
), quoted AS (
    INSERT INTO market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h, liquidity)
    SELECT market_id, $9, $11, 0, 0, 0, 0 FROM market
)
INSERT INTO market_prices (market_id, at, yes_bps) SELECT market_id, $11, $9 FROM market
