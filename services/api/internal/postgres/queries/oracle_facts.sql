-- What movement and attention are made of, for every open market at $1. A price
-- of a window's start is the newest snapshot at or before it, else the oldest one
-- inside that covers half of the window. It is looked up where a quote of the last
-- ten minutes can be set against it, and that of a window shorter than a day only
-- where the volume lets the market move on the wire. Native markets are priced by
-- their crowd at any moment; each call on one leaves a snapshot.
WITH calls AS (
    SELECT market_id, count(*) AS n FROM signals WHERE created_at > $1::timestamptz - interval '24 hours' GROUP BY market_id
), taken AS (
    SELECT s.market_id, count(*) AS n
    FROM signal_events e JOIN signals s ON s.id = e.signal_id
    WHERE e.type = 'take' AND e.created_at > $1::timestamptz - interval '24 hours'
    GROUP BY s.market_id
), open AS (
    SELECT m.market_id, m.provider, m.title, coalesce(m.outcome_labels[m.yes_index + 1], 'Yes') AS outcome, m.lane,
        m.event_key, m.event_title, m.slug, m.image_url, m.end_date, NOT m.provisional AND NOT m.disputed AS callable,
        m.initial_yes_bps, q.yes_bps, q.at, q.volume_usd, CASE WHEN m.volume_unit = 'usd' THEN q.volume24h END AS volume24h,
        m.provider = 'manual' OR q.yes_bps IS NOT NULL AND q.at >= $1::timestamptz - interval '10 minutes' AS priced,
        coalesce(q.volume_usd >= 1000, false) AS heavy
    FROM markets m LEFT JOIN market_quotes q ON q.market_id = m.market_id
    WHERE m.status = 'open' AND (m.provider <> 'manual' OR m.end_date IS NULL OR m.end_date > $1)
)
SELECT o.market_id, o.provider, o.title, o.outcome, o.lane, o.event_key, o.event_title, o.slug, o.image_url, o.end_date,
    o.callable, o.initial_yes_bps, o.yes_bps, o.at, o.volume_usd, o.volume24h,
    coalesce(t.yes + t.no, 0), coalesce(t.crowd_yes, 0), coalesce(t.crowd_no, 0), coalesce(c.n, 0), coalesce(k.n, 0),
    s.m15, s.h1, s.h6, d.h24
FROM open o
LEFT JOIN market_totals t ON t.market_id = o.market_id
LEFT JOIN calls c ON c.market_id = o.market_id
LEFT JOIN taken k ON k.market_id = o.market_id
LEFT JOIN LATERAL (
    SELECT coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= $1::timestamptz - interval '24 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > $1::timestamptz - interval '24 hours' AND p.at <= $1::timestamptz - interval '12 hours' ORDER BY p.at LIMIT 1)) AS h24
) d ON o.priced
LEFT JOIN LATERAL (
    SELECT coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= $1::timestamptz - interval '15 minutes' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > $1::timestamptz - interval '15 minutes' AND p.at <= $1::timestamptz - interval '7.5 minutes' ORDER BY p.at LIMIT 1)) AS m15,
    coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= $1::timestamptz - interval '1 hour' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > $1::timestamptz - interval '1 hour' AND p.at <= $1::timestamptz - interval '30 minutes' ORDER BY p.at LIMIT 1)) AS h1,
    coalesce(
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at <= $1::timestamptz - interval '6 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices p WHERE p.market_id = o.market_id
            AND p.at > $1::timestamptz - interval '6 hours' AND p.at <= $1::timestamptz - interval '3 hours' ORDER BY p.at LIMIT 1)) AS h6
) s ON o.priced AND o.heavy
