INSERT INTO airings (segment_id, channel, lane, slot, market_id, title, started_at, ended_at, yes_bps_start)
SELECT segment_id, channel, lane, slot, market_id, title, started_at, ended_at, yes_bps
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::integer[])
    AS a (segment_id, channel, lane, slot, market_id, title, started_at, ended_at, yes_bps)
ORDER BY segment_id
ON CONFLICT (segment_id) DO NOTHING
