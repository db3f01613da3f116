-- How many clips of each market can be watched. $1 markets.
SELECT market_id, count(*) FROM clips WHERE market_id = ANY ($1::text[]) AND status = 'ready' GROUP BY market_id
