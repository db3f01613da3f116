SELECT d.market_id FROM score_drains d JOIN markets m ON m.market_id = d.market_id
WHERE NOT m.disputed ORDER BY d.created_at LIMIT 100
