-- How the top forecasters, down to and including the cut, stand on a market.
SELECT count(*) FILTER (WHERE s.yes), count(*)
FROM signals s
JOIN operator_scores c ON c.user_id = s.user_id AND c.won + c.lost >= 10
JOIN users u ON u.id = s.user_id AND u.crowd
WHERE s.market_id = $1
  AND (c.score::double precision / (c.won + c.lost), c.won + c.lost, c.user_id) >= ($2::double precision, $3::bigint, $4::uuid)
