-- What is searched of all markets. Descriptions stay where they are.
SELECT m.market_id, m.provider, m.title, m.slug, m.status, m.lane, m.event_key, m.end_date, q.volume_usd, q.volume24h
FROM markets m
LEFT JOIN market_quotes q ON q.market_id = m.market_id
