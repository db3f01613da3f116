-- Nobody files on the market, resolves it or disputes it from here on.
SELECT FROM markets WHERE market_id = $1 FOR UPDATE
