-- Files what waits, in one statement: who acts, the market under lock, the
-- price rules of contract 4.2.7, the row, the counters, the outbox.
-- $19 now, $20 price tolerance (bps), $21 whether a passed end is provisional.
WITH input AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::uuid[], $2::bytea[], $3::uuid[], $4::text[], $5::text[], $6::boolean[], $7::integer[],
        $8::integer[], $9::smallint[], $10::text[], $11::text[], $12::integer[], $13::text[],
        $14::text[], $15::integer[], $16::text[], $17::bytea[], $18::integer[]
    ) WITH ORDINALITY AS t (
        id, key_hash, user_id, market_id, title, yes, price,
        crowd, confidence, take, source, ttr, channel_id,
        media_asset_id, reach, idem_key, body_hash, lean, n)
), who AS MATERIALIZED (
    SELECT i.*, u.id AS actor, u.crowd AS counts
    FROM input i
    LEFT JOIN operator_keys k ON k.hash = i.key_hash AND k.revoked_at IS NULL
    LEFT JOIN users u ON u.id = coalesce(k.user_id, i.user_id)
), market AS MATERIALIZED (
    SELECT market_id, provider, title, status, provisional, disputed, end_date, fetched_at, initial_yes_bps
    FROM markets
    WHERE market_id = ANY ($4::text[])
    ORDER BY market_id
    FOR SHARE
), judged AS MATERIALIZED (
    SELECT w.*, m.end_date, m.title AS held_title, q.yes_bps AS snap,
        coalesce(old.id, idem.result_id) AS first_id,
        CASE
            WHEN w.actor IS NULL THEN 'unauthenticated'
            WHEN old.id = w.id THEN 'replay'
            WHEN idem.body_hash = w.body_hash THEN 'replay'
            WHEN idem.key IS NOT NULL THEN 'reused'
            WHEN old.id IS NOT NULL THEN 'duplicate'
            WHEN m.market_id IS NULL THEN 'unknown'
            WHEN m.status = 'resolved' THEN 'settled'
            WHEN m.provisional OR m.disputed THEN 'provisional'
            WHEN m.status <> 'open' AND NOT (m.status = 'unknown' AND m.fetched_at IS NULL) THEN 'provisional'
            WHEN m.end_date <= $19::timestamptz AND ($21::boolean OR m.provider = 'manual') THEN 'provisional'
            ELSE 'file'
        END AS verdict
    FROM who w
    LEFT JOIN market m ON m.market_id = w.market_id
    LEFT JOIN market_quotes q ON q.market_id = w.market_id
        AND (q.at >= $19::timestamptz - interval '15 minutes' OR m.provider = 'manual')
    LEFT JOIN signals old ON old.market_id = w.market_id AND old.user_id = w.actor
    LEFT JOIN idempotency_keys idem ON idem.user_id = w.actor AND idem.key = w.idem_key
        AND idem.created_at > $19::timestamptz - interval '24 hours'
), priced AS MATERIALIZED (
    SELECT j.*,
        CASE WHEN NOT yes AND abs(price - snap) < abs(price - (10000 - snap))
             THEN 10000 - price ELSE price END AS paid,
        CASE WHEN yes THEN snap ELSE 10000 - snap END AS side
    FROM judged j WHERE verdict = 'file'
), filed AS (
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified,
        crowd_yes_bps, confidence, ttr, created_at, market_title, text_take, source,
        channel_id, media_asset_id, reach)
    SELECT id, market_id, actor, yes, paid, greatest(paid, side - $20::integer), snap IS NOT NULL,
        coalesce(crowd, snap), confidence,
        coalesce(ttr, least(315360000, greatest(0, floor(extract(epoch FROM end_date - $19::timestamptz))))::integer),
        $19::timestamptz, coalesce(title, held_title, market_id), take, source, channel_id, media_asset_id, reach
    FROM priced
    ORDER BY market_id, actor, n
    ON CONFLICT DO NOTHING
    RETURNING id, market_id, user_id, yes
), counted AS (
    INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no)
    SELECT f.market_id, count(*) FILTER (WHERE f.yes), count(*) FILTER (WHERE NOT f.yes),
        count(*) FILTER (WHERE f.yes AND p.counts), count(*) FILTER (WHERE NOT f.yes AND p.counts)
    FROM filed f JOIN priced p ON p.id = f.id
    GROUP BY f.market_id ORDER BY f.market_id
    ON CONFLICT (market_id) DO UPDATE SET
        yes = t.yes + excluded.yes, no = t.no + excluded.no,
        crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no
    RETURNING market_id, crowd_yes, crowd_no
), native AS (
    -- A native market's price is its smoothed crowd (4.3.7): the write that moves it stores it.
    UPDATE market_quotes q
    SET at = $19::timestamptz, yes_bps = least(9900, greatest(100,
        round((8.0 * m.initial_yes_bps + 10000.0 * c.crowd_yes) / (8 + c.crowd_yes + c.crowd_no))))::integer
    FROM counted c JOIN market m ON m.market_id = c.market_id AND m.initial_yes_bps IS NOT NULL
    WHERE q.market_id = c.market_id
    RETURNING q.market_id, q.yes_bps
), snapshots AS (
    INSERT INTO market_prices (market_id, at, yes_bps)
    SELECT market_id, $19::timestamptz, yes_bps FROM native
    ON CONFLICT (market_id, at) DO UPDATE SET yes_bps = excluded.yes_bps
), operator_count AS (
    INSERT INTO operator_totals AS t (user_id, total)
    SELECT user_id, count(*) FROM filed GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET total = t.total + excluded.total
), opened AS (
    INSERT INTO open_signals (signal_id, market_id, created_at)
    SELECT id, market_id, $19::timestamptz FROM filed
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, at)
    SELECT 'signal.created', f.market_id, f.user_id, f.id, $19::timestamptz
    FROM filed f
), keyed AS (
    INSERT INTO idempotency_keys AS k (user_id, key, body_hash, result_id, created_at)
    SELECT p.actor, p.idem_key, p.body_hash, f.id, $19::timestamptz
    FROM filed f JOIN priced p ON p.id = f.id WHERE p.idem_key IS NOT NULL
    ORDER BY p.actor, p.idem_key
    ON CONFLICT (user_id, key) DO UPDATE SET body_hash = excluded.body_hash,
        result_id = excluded.result_id, created_at = excluded.created_at
        WHERE k.created_at <= $19::timestamptz - interval '24 hours'
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT $19::timestamptz, p.actor::text, 'signal.crowd_lean', f.id::text, jsonb_build_object('crowdLeanBps', p.lean)
    FROM filed f JOIN priced p ON p.id = f.id WHERE p.lean IS NOT NULL
), woken AS (
    SELECT pg_notify('sc_outbox', '') FROM filed LIMIT 1
)
SELECT j.n, CASE WHEN f.id IS NULL AND j.verdict = 'file' THEN 'raced' ELSE j.verdict END, j.first_id, j.actor
FROM judged j
LEFT JOIN filed f ON f.id = j.id AND j.verdict = 'file'
LEFT JOIN woken ON true
ORDER BY j.n
