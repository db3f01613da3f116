-- Scores before $1 go, at most $2 at a time.
DELETE FROM attention_scores WHERE (market_id, at) IN (
    SELECT a.market_id, a.at FROM attention_scores a WHERE a.at < $1 LIMIT $2)
