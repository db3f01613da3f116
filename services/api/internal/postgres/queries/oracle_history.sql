-- What the score of $1 was at $2 and what it became since, the newest $3.
SELECT at, score FROM (
    (SELECT a.at, a.score FROM attention_scores a WHERE a.market_id = $1 AND a.at < $2 ORDER BY a.at DESC LIMIT 1)
    UNION ALL
    (SELECT a.at, a.score FROM attention_scores a WHERE a.market_id = $1 AND a.at >= $2 ORDER BY a.at DESC LIMIT $3)
) points
ORDER BY at DESC LIMIT $3
