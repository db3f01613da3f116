-- Number of clips of each market that can be watched. $1 markets.
SELECT c.market_id, count(*)
FROM clips c
WHERE c.market_id = ANY ($1::text[]) AND c.status = 'ready'
    AND NOT EXISTS (SELECT FROM streamer_profiles p WHERE p.handle = c.handle AND p.withheld)
GROUP BY c.market_id
