-- Adds scores ($1 market, $2 score) at $3 where they are not the last one of the
-- market. A history does not begin with 0.
INSERT INTO attention_scores (market_id, at, score)
SELECT i.market_id, $3, i.score
FROM unnest($1::text[], $2::integer[]) AS i (market_id, score)
LEFT JOIN LATERAL (
    SELECT a.score FROM attention_scores a WHERE a.market_id = i.market_id ORDER BY a.at DESC LIMIT 1
) last ON true
WHERE i.score <> coalesce(last.score, 0)
ON CONFLICT (market_id, at) DO NOTHING
