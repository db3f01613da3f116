-- What is searched of the markets whose row or quote changed since $1, or of all
-- of them when that is null. Descriptions stay where they are.
SELECT m.market_id, m.provider, m.title, m.slug, m.status, m.lane, m.event_key, m.end_date, q.volume_usd, q.volume24h
FROM markets m
LEFT JOIN market_quotes q ON q.market_id = m.market_id
WHERE $1::timestamptz IS NULL
    OR m.market_id IN (
        SELECT market_id FROM markets WHERE updated_at >= $1
        UNION SELECT market_id FROM market_quotes WHERE at >= $1)
