-- How the calls on $1 lean at $2, of operators that count as crowd.
WITH calls AS (
    SELECT s.id, s.yes, s.confidence, s.created_at
    FROM signals s JOIN users u ON u.id = s.user_id AND u.crowd
    WHERE s.market_id = $1
), taken AS (
    SELECT c.yes FROM calls c JOIN signal_events e ON e.signal_id = c.id WHERE e.type = 'take'
)
SELECT count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes),
    coalesce(sum(coalesce(confidence, 50)) FILTER (WHERE yes), 0) / 100.0::double precision,
    coalesce(sum(coalesce(confidence, 50)) FILTER (WHERE NOT yes), 0) / 100.0::double precision,
    (avg(confidence) FILTER (WHERE yes))::double precision, (avg(confidence) FILTER (WHERE NOT yes))::double precision,
    (SELECT count(*) FROM taken WHERE yes), (SELECT count(*) FROM taken WHERE NOT yes),
    count(*) FILTER (WHERE created_at > $2::timestamptz - interval '24 hours'),
    coalesce( -- as oracle_facts has it
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = $1
            AND p.at <= $2::timestamptz - interval '24 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = $1
            AND p.at > $2::timestamptz - interval '24 hours' AND p.at <= $2::timestamptz - interval '12 hours' ORDER BY p.at LIMIT 1))
FROM calls
