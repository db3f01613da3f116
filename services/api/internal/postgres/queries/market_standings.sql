-- Where markets stand whose readers are told: $1 ids. A native market is priced by
-- its crowd, in the quote.
SELECT m.market_id, q.yes_bps, coalesce(t.crowd_yes, 0), coalesce(t.crowd_no, 0)
FROM unnest($1::text[]) i (market_id)
JOIN markets m ON m.market_id = i.market_id
LEFT JOIN market_quotes q ON q.market_id = m.market_id
LEFT JOIN market_totals t ON t.market_id = m.market_id
