-- $1 event ids, $2 types, $3 times, $4 markets, $5 channels, $6 data.
INSERT INTO outbox (event_id, type, at, market_id, topic, data)
SELECT event_id, type, at, market_id, channel, data
FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
    WITH ORDINALITY AS g (event_id, type, at, market_id, channel, data, n)
ORDER BY n
