-- Files what waits, in one statement: who acts, the market under lock, the
-- price rules of contract 4.2.7, the row, the counters, the outbox. A call that has
-- one before it finds that by the unique key; signal_file_raced tells which.
-- $19 now, $20 price tolerance (bps), $21 whether a passed end is provisional, $22
-- what the market's venue said: 0 nobody asked, 1 it is away, 2 there is none.
-- The parts between "only" and "end" are left out where they are not needed.
WITH judged AS MATERIALIZED (
    SELECT i.n, i.id, i.market_id, a.id AS actor, i.yes, i.price, i.crowd, i.confidence, i.ttr, i.take, i.source,
        i.channel_id, i.media_asset_id, i.reach, i.idem_key, i.body_hash, i.lean,
        coalesce(i.title, m.title, i.market_id) AS title, m.end_date, q.yes_bps AS snap, q.at AS snap_at,
        k.hash IS NOT NULL AND coalesce(k.last_used_at < $19::timestamptz - interval '1 minute', true) AS idle,
        coalesce(NULL
            -- only keys
            , idem.result_id
            -- end keys
        )::uuid AS first_id,
        CASE
            WHEN a.id IS NULL THEN 'unauthenticated'
            -- only keys
            WHEN idem.body_hash = i.body_hash THEN 'replay'
            WHEN idem.key IS NOT NULL THEN 'reused'
            -- end keys
            WHEN m.market_id IS NULL THEN 'unknown'
            WHEN m.status = 'resolved' THEN 'settled'
            -- A native market is provisional by a proposal, which lives for seven days.
            WHEN m.disputed OR m.provisional AND (m.provider <> 'manual'
                OR coalesce(m.provisional_at > $19::timestamptz - interval '7 days', true)) THEN 'provisional'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL THEN
                CASE i.venue WHEN 1 THEN 'file' WHEN 2 THEN 'absent' ELSE 'stub' END
            WHEN m.status <> 'open' THEN 'provisional'
            WHEN m.end_date <= $19::timestamptz AND ($21::boolean OR m.provider = 'manual') THEN 'provisional'
            ELSE 'file'
        END AS verdict
    FROM (
        -- By market: the order in which everybody locks them.
        SELECT * FROM unnest(
            $1::uuid[], $2::bytea[], $3::uuid[], $4::text[], $5::text[], $6::boolean[], $7::integer[],
            $8::integer[], $9::smallint[], $10::text[], $11::text[], $12::integer[], $13::text[],
            $14::text[], $15::integer[], $16::text[], $17::bytea[], $18::integer[], $22::smallint[]
        ) WITH ORDINALITY AS t (
            id, key_hash, user_id, market_id, title, yes, price,
            crowd, confidence, take, source, ttr, channel_id,
            media_asset_id, reach, idem_key, body_hash, lean, venue, n)
        ORDER BY market_id, n
    ) i
    LEFT JOIN operator_keys k ON k.hash = i.key_hash AND k.revoked_at IS NULL
    LEFT JOIN users u ON u.id = i.user_id
    CROSS JOIN LATERAL (SELECT coalesce(k.user_id, u.id) AS id) a
    LEFT JOIN LATERAL (
        SELECT market_id, provider, title, status, provisional, provisional_at, disputed, end_date, fetched_at
        FROM markets WHERE market_id = i.market_id
        FOR SHARE
        -- only quick
        SKIP LOCKED
        -- end quick
    ) m ON true
    LEFT JOIN market_quotes q ON q.market_id = i.market_id
        AND (q.at >= $19::timestamptz - interval '15 minutes' OR m.provider = 'manual')
    -- only keys
    LEFT JOIN idempotency_keys idem ON idem.user_id = a.id AND idem.key = i.idem_key
        AND idem.created_at > $19::timestamptz - interval '24 hours'
    -- end keys
), filed AS (
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified,
        crowd_yes_bps, confidence, ttr, created_at, market_title, text_take, source,
        channel_id, media_asset_id, reach)
    SELECT j.id, j.market_id, j.actor, j.yes, p.paid,
        greatest(p.paid, CASE WHEN j.yes THEN j.snap ELSE 10000 - j.snap END - $20::integer), j.snap IS NOT NULL,
        coalesce(j.crowd, j.snap), j.confidence,
        coalesce(j.ttr, least(315360000, greatest(0, floor(extract(epoch FROM j.end_date - $19::timestamptz))))::integer),
        $19::timestamptz, j.title, j.take, j.source, j.channel_id, j.media_asset_id, j.reach
    FROM judged j CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT j.yes AND abs(j.price - j.snap) < abs(j.price - (10000 - j.snap))
                    THEN 10000 - j.price ELSE j.price END AS paid) p
    WHERE j.verdict = 'file'
    ORDER BY j.market_id, j.actor, j.n
    ON CONFLICT DO NOTHING
    RETURNING id, market_id, user_id, yes, score_basis_bps > price_bps AS guarded
), held AS (
    -- Not every quote becomes a snapshot: one that a price was guarded with does, so that
    -- the basis can be worked out again.
    INSERT INTO market_prices (market_id, at, yes_bps)
    SELECT j.market_id, j.snap_at, j.snap FROM judged j
    WHERE j.snap_at < $19::timestamptz AND j.id = ANY (ARRAY(SELECT id FROM filed WHERE guarded))
    ORDER BY j.market_id
    ON CONFLICT (market_id, at) DO NOTHING
), operator_count AS (
    -- Whether the operator counts as crowd is read from the row that is locked here:
    -- one who is classified anew meanwhile is counted either before or after it.
    INSERT INTO operator_totals AS t (user_id, total)
    SELECT user_id, count(*) FROM filed GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET total = t.total + excluded.total
    RETURNING user_id, crowd
), counted AS (
    -- Rows that are there are moved by INSERT as well: an UPDATE could be planned as a
    -- walk through the whole table, on a day when that is small.
    INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no)
    SELECT market_id, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes),
        count(*) FILTER (WHERE yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        count(*) FILTER (WHERE NOT yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd))
    FROM filed
    GROUP BY market_id ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET
        yes = t.yes + excluded.yes, no = t.no + excluded.no,
        crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no
    RETURNING market_id, crowd_yes, crowd_no
-- only natives
), native AS (
    -- A native market's price is its smoothed crowd (4.3.7): the write that moves it stores it.
    INSERT INTO market_quotes (market_id, at, yes_bps)
    SELECT c.market_id, $19::timestamptz, least(9900, greatest(100,
        round((8.0 * p.prior + 10000.0 * c.crowd_yes) / (8 + c.crowd_yes + c.crowd_no))))::integer
    FROM counted c
    CROSS JOIN LATERAL (SELECT initial_yes_bps AS prior FROM markets WHERE market_id = c.market_id) p
    WHERE p.prior IS NOT NULL
    ORDER BY c.market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at, yes_bps = excluded.yes_bps
    RETURNING market_id, yes_bps
), snapshots AS (
    INSERT INTO market_prices (market_id, at, yes_bps)
    SELECT market_id, $19::timestamptz, yes_bps FROM native
    ON CONFLICT (market_id, at) DO UPDATE SET yes_bps = excluded.yes_bps
-- end natives
), opened AS (
    INSERT INTO open_signals (signal_id, market_id, created_at)
    SELECT id, market_id, $19::timestamptz FROM filed
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, at)
    SELECT 'signal.created', f.market_id, f.user_id, f.id, $19::timestamptz
    FROM filed f
-- only keys
), keyed AS (
    INSERT INTO idempotency_keys AS k (user_id, key, body_hash, result_id, created_at)
    SELECT j.actor, j.idem_key, j.body_hash, j.id, $19::timestamptz
    FROM judged j WHERE j.idem_key IS NOT NULL AND j.id = ANY (ARRAY(SELECT id FROM filed))
    ORDER BY j.actor, j.idem_key
    -- A key that another call has taken meanwhile refuses the whole statement, because
    -- no result is no value; each call is then written alone and finds that key.
    ON CONFLICT (user_id, key) DO UPDATE SET body_hash = excluded.body_hash, created_at = excluded.created_at,
        result_id = CASE WHEN k.created_at <= $19::timestamptz - interval '24 hours' THEN excluded.result_id END
-- end keys
-- only lean
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT $19::timestamptz, j.actor::text, 'signal.crowd_lean', j.id::text, jsonb_build_object('crowdLeanBps', j.lean)
    FROM judged j WHERE j.lean IS NOT NULL AND j.id = ANY (ARRAY(SELECT id FROM filed))
-- end lean
)
SELECT j.n, CASE WHEN j.verdict = 'file' AND j.id NOT IN (SELECT id FROM filed) THEN 'raced' ELSE j.verdict END,
    j.first_id, j.actor, j.idle
FROM judged j
