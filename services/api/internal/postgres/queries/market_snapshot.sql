-- Snapshots of open markets: each one ($4) or where calls are open, else one in
-- fifteen minutes. A market that is not open is not snapped, so that what a
-- result does to the price never becomes the closing line.
INSERT INTO market_prices (market_id, at, yes_bps)
SELECT i.market_id, i.at, i.yes_bps
FROM unnest($1::text[], $2::timestamptz[], $3::integer[]) AS i (market_id, at, yes_bps)
WHERE i.yes_bps IS NOT NULL AND (
    $4::boolean
    OR EXISTS (SELECT FROM market_totals t WHERE t.market_id = i.market_id)
    OR NOT EXISTS (SELECT FROM market_prices p WHERE p.market_id = i.market_id AND p.at > i.at - interval '15 minutes'))
ORDER BY i.market_id
ON CONFLICT (market_id, at) DO NOTHING
