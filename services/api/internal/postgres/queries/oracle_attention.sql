-- The score that each of the markets $1 had at $2.
SELECT i.market_id, s.score
FROM unnest($1::text[]) AS i (market_id)
CROSS JOIN LATERAL (
    SELECT a.score FROM attention_scores a
    WHERE a.market_id = i.market_id AND a.at <= $2
    ORDER BY a.at DESC LIMIT 1) s
