-- What is left to score of a claimed market, and whether a dispute stops it. The
-- share lock makes a dispute wait for a chunk that runs, and a chunk for a dispute.
SELECT d.after_user, m.disputed
FROM score_drains d JOIN markets m ON m.market_id = d.market_id
WHERE d.market_id = $1
FOR UPDATE OF d FOR SHARE OF m
