-- Of the scores between $1 and $2 the last one of each fifteen minutes of a market
-- stays, at most $3 rows go at a time.
DELETE FROM attention_scores WHERE (market_id, at) IN (
    SELECT a.market_id, a.at FROM attention_scores a
    WHERE a.at >= $1 AND a.at < $2 AND EXISTS (
        SELECT FROM attention_scores later
        WHERE later.market_id = a.market_id AND later.at > a.at
            AND later.at < least($2, date_bin('15 minutes', a.at, 'epoch') + interval '15 minutes'))
    LIMIT $3)
