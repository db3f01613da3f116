-- Takes each fact once: $1 ids, $2 types, $3 times, $4 markets or null, $5 handles
-- or null, $6 topics or null, $7 data. What was taken goes to the relay, in the
-- order given, and wakes it. A market's streams are those of approved operators.
WITH given AS (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::jsonb[])
        WITH ORDINALITY AS g (id, type, at, market_id, handle, topic, data, n)
), fresh AS (
    INSERT INTO published (event_id) SELECT id FROM given ORDER BY id
    ON CONFLICT (event_id) DO NOTHING
    RETURNING event_id
), taken AS (
    SELECT g.* FROM given g JOIN fresh f ON f.event_id = g.id
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, topic, data, at)
    SELECT t.type, t.market_id, u.id, t.topic, t.data, t.at
    FROM taken t LEFT JOIN users u ON u.handle = t.handle
    ORDER BY t.n
), streams AS (
    INSERT INTO market_live AS l (market_id, handle, bound, at)
    SELECT DISTINCT ON (t.market_id, t.handle) t.market_id, t.handle,
        t.type = 'stream.bound' AND coalesce((t.data ->> 'approved')::boolean, false), t.at
    FROM taken t
    WHERE t.type IN ('stream.bound', 'stream.unbound') AND t.market_id IS NOT NULL AND t.handle IS NOT NULL
    ORDER BY t.market_id, t.handle, t.n DESC
    ON CONFLICT (market_id, handle) DO UPDATE SET bound = excluded.bound, at = excluded.at
)
SELECT pg_notify('sc_outbox', '') FROM taken LIMIT 1
