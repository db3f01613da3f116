-- What is searched of the markets whose row or quote changed since $1. The upper
-- bounds say that these are few; a plan made without knowing $1 reads every row else.
SELECT m.market_id, m.provider, m.title, m.slug, m.status, m.lane, m.event_key, m.end_date, q.volume_usd, q.volume24h
FROM (
    SELECT market_id FROM markets WHERE updated_at >= $1 AND updated_at < 'infinity'
    UNION SELECT market_id FROM market_quotes WHERE at >= $1 AND at < 'infinity'
) changed
JOIN markets m ON m.market_id = changed.market_id
LEFT JOIN market_quotes q ON q.market_id = m.market_id
