-- Notes what began, and tells of what was not noted yet. $1 event ids, $2 channels,
-- $3 slots, $4 lanes, $5 markets, $6 times of the starts, $7 data.
WITH given AS (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::text[])
        WITH ORDINALITY AS g (event_id, channel, slot, lane, market_id, at, data, n)
), fresh AS (
    INSERT INTO program_starts (channel, slot, lane, market_id, data)
    SELECT channel, slot, lane, market_id, data FROM given ORDER BY slot, channel
    ON CONFLICT (slot, channel) DO NOTHING
    RETURNING slot, channel
), told AS (
    INSERT INTO outbox (event_id, type, at, market_id, topic, data)
    SELECT g.event_id, 'segment.started', g.at, g.market_id, g.channel, g.data
    FROM given g JOIN fresh f USING (slot, channel)
    ORDER BY g.n
)
SELECT count(*) FROM fresh
