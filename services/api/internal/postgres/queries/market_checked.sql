INSERT INTO market_checks AS c (market_id, at)
SELECT i.market_id, $2 FROM unnest($1::text[]) AS i (market_id) ORDER BY i.market_id
ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at
