-- name: FileSignals :many
-- Files a batch of calls in one statement: finds the operators, locks the markets, applies the price rules, and writes
-- the calls, the counters and the outbox entries. Returns the verdict of each call. A call that fails only because of
-- an earlier call of its operator on the market, or of a deleted account of the same person, has the verdict raced;
-- FindFirstSignals reads the earlier call. A call
-- on a market that does not exist, or that another transaction has locked, has the verdict unknown.
-- The statement has three forms, because each additional table takes time in every batch. This form is for calls
-- without idempotency key and crowdLeanBps, on markets that a venue has confirmed. The comments of FileSignalsWithKey
-- and FileSignalsFull list what they add. All other lines are equal in the three forms (TestFilingStatementsAgree).
-- Parameters: the arrays have one element for each call. user_ids: the operator of a call that was sent without a key.
-- venues: the state of the request to the venue (0 not sent; 1 completed; 2 the venue has no such market; 3 no quote is
-- required: a dry run, or allowUnverified after the request). slippages: the largest slippage in bps. oldest_quote: the
-- earliest time of a usable quote. rated_volume: the volume in USD from which a market is rated. rated_creators: the
-- creators on Manifold whose markets are rated; "*" for all.
-- Plan: nested loops from the sorted input. Every table is read by its key (operator_keys_hash_key, users_pkey,
-- markets_pkey, market_quotes_pkey), and each insert finds a conflict by its unique index. No table is scanned.
WITH judged AS MATERIALIZED (
    SELECT i.n, i.id, i.market_id, a.id AS actor, i.yes, p.paid, i.crowd, i.confidence, i.ttr, i.take, i.source,
        i.channel_id, i.media_asset_id, i.reach, i.idem_key, i.body_hash, i.lean, m.end_date,
        s.snap, s.yes_price, s.no_price,
        CASE WHEN m.provider <> 'manual' AND s.yes_price IS NOT NULL THEN q.quoted_at END AS quote_at, q.quote_rule,
            q.quote_sha256,
        q.quote_stored, b.side IS NOT NULL AS verified,
        -- greatest ignores NULL, so the scoring price of an unverified call is its stated price.
        greatest(p.paid, b.side - sqlc.arg(tolerance)::integer) AS basis,
        CASE WHEN m.provider = 'manual' OR m.fetched_at IS NOT NULL THEN m.title ELSE i.market_id END AS title,
        CASE WHEN m.rated_ruling IS NOT NULL THEN m.rated_ruling
             WHEN m.provider = 'manual' THEN coalesce(m.created_by = 'admin', false)
             WHEN m.provider = 'manifold' THEN coalesce(ARRAY['*', m.creator] && sqlc.arg(rated_creators)::text[], false)
             ELSE coalesce(q.volume_usd, 0) >= sqlc.arg(rated_volume)::double precision END AS rated,
        k.hash IS NOT NULL AND coalesce(k.last_used_at < sqlc.arg(now)::timestamptz - interval '1 minute', true) AS idle,
        NULL::uuid AS first_id,
        CASE
            WHEN a.id IS NULL THEN 'unauthenticated'
            WHEN m.market_id IS NULL THEN 'unknown'
            WHEN m.status = 'resolved' THEN 'settled'
            -- A proposal makes a native market provisional and expires after seven days.
            WHEN m.disputed OR m.provisional AND (m.provider <> 'manual'
                OR coalesce(m.provisional_at > sqlc.arg(now)::timestamptz - interval '7 days', true)) THEN 'provisional'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL AND i.venue = 0 THEN 'stub'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL AND i.venue = 2 THEN 'absent'
            WHEN m.status <> 'open' AND (m.status <> 'unknown' OR m.fetched_at IS NOT NULL) THEN 'provisional'
            WHEN m.end_date <= sqlc.arg(now)::timestamptz AND (@past_end_is_provisional::boolean OR m.provider = 'manual')
                THEN 'provisional'
            WHEN i.venue = 2 THEN 'provisional'
            WHEN b.side IS NULL AND i.venue = 0 THEN 'quote'
            WHEN b.side - p.paid > i.slippage OR p.off THEN 'moved'
            WHEN b.side IS NULL AND i.slippage IS NOT NULL AND i.venue <> 3 THEN 'unverified'
            WHEN called_before(a.id, i.market_id) THEN 'raced'
            ELSE 'file'
        END AS verdict
    FROM (
        -- By market, because all transactions lock markets in this order.
        SELECT t.id, t.key_hash, t.user_id, t.market_id, t.yes, t.price, t.crowd, t.confidence, t.take, t.source, t.ttr,
            t.channel_id,
            t.media_asset_id, t.reach, t.idem_key, t.body_hash, t.lean, t.venue, t.slippage, t.n
        FROM unnest(
            @ids::uuid[], @key_hashes::bytea[], @user_ids::pg_catalog.uuid[], @market_ids::text[], @yes::boolean[],
            @prices::integer[], @crowds::int4[], @confidences::int2[], @takes::pg_catalog.text[], @sources::text[],
            @times_to_resolution::int4[], @channels::pg_catalog.text[], @media_assets::pg_catalog.text[], @reaches::int4[],
            @idem_keys::pg_catalog.text[], @body_hashes::bytea[], @leans::int4[], @venues::smallint[], @slippages::int4[]
        ) WITH ORDINALITY AS t (
            id, key_hash, user_id, market_id, yes, price,
            crowd, confidence, take, source, ttr, channel_id,
            media_asset_id, reach, idem_key, body_hash, lean, venue, slippage, n)
        ORDER BY market_id, n
    ) i
    LEFT JOIN operator_keys k ON k.hash = i.key_hash AND k.revoked_at IS NULL
    LEFT JOIN users u ON u.id = i.user_id
    CROSS JOIN LATERAL (SELECT coalesce(k.user_id, u.id)::uuid AS id) a
    LEFT JOIN LATERAL (
        SELECT market_id, provider, title, status, provisional, provisional_at, disputed, end_date, fetched_at,
            rated_ruling, created_by, creator, initial_yes_bps
        FROM markets WHERE market_id = i.market_id
        FOR SHARE SKIP LOCKED
    ) m ON true
    LEFT JOIN market_quotes q ON q.market_id = i.market_id
    CROSS JOIN LATERAL (
        -- snap is the middle price. A side of a native market costs the greater of its smoothed
        -- crowd price and its initial price. The quote of a native market has no time.
        SELECT CASE WHEN m.provider = 'manual' OR q.at >= sqlc.arg(now)::timestamptz - interval '15 minutes'
                THEN q.yes_bps END AS snap,
            CASE WHEN m.provider = 'manual' THEN greatest(q.yes_bps, m.initial_yes_bps)
                 WHEN q.quoted_at >= sqlc.arg(oldest_quote)::timestamptz THEN q.yes_price_bps END AS yes_price,
            CASE WHEN m.provider = 'manual' THEN 10000 - least(q.yes_bps, m.initial_yes_bps)
                 WHEN q.quoted_at >= sqlc.arg(oldest_quote)::timestamptz THEN q.no_price_bps END AS no_price) s
    CROSS JOIN LATERAL (SELECT CASE WHEN i.yes THEN s.yes_price ELSE s.no_price END AS side) b
    CROSS JOIN LATERAL (
        -- A NO call with the YES price is converted. With a bound on slippage it is rejected if the
        -- converted price differs from the price of the side by more than that bound.
        SELECT CASE WHEN c.other AND NOT c.off THEN 10000 - i.price ELSE i.price END AS paid, c.other AND c.off AS off
        FROM (SELECT NOT i.yes AND coalesce(abs(i.price - s.snap) < abs(i.price - (10000 - s.snap)), false) AS other,
            coalesce(abs(10000 - i.price - b.side) > i.slippage, false) AS off) c) p
), filed AS (
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified,
        crowd_yes_bps, confidence, ttr, created_at, market_title, text_take, source,
        channel_id, media_asset_id, reach, rated, quote_at, market_yes_bps, closes_at)
    SELECT j.id, j.market_id, j.actor, j.yes, j.paid, j.basis, j.verified,
        coalesce(j.crowd, j.snap), j.confidence,
        coalesce(j.ttr, CASE WHEN j.end_date IS NOT NULL
            THEN least(315360000, greatest(0, floor(extract(epoch FROM j.end_date - sqlc.arg(now)::timestamptz))))::integer END),
        @now::timestamptz, j.title, j.take, j.source, j.channel_id, j.media_asset_id, j.reach,
        j.rated, j.quote_at, j.snap, j.end_date
    FROM judged j
    WHERE j.verdict = 'file'
    ORDER BY j.market_id, j.actor, j.n
    ON CONFLICT DO NOTHING
    RETURNING id, market_id, user_id, yes
), stored AS (
    SELECT id FROM filed
), compared AS (
    -- The quote of a verified call is stored, so that its scoring price can be recomputed. It
    -- is stored here unless the refresh that read the quote has stored it.
    INSERT INTO quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256)
    SELECT j.market_id, j.quote_at, j.yes_price, j.no_price, coalesce(j.quote_rule, ''), j.quote_sha256
    FROM judged j WHERE j.verdict = 'file' AND j.quote_at IS NOT NULL AND NOT j.quote_stored
    ORDER BY j.market_id
    ON CONFLICT (market_id, at) DO NOTHING
), operator_count AS (
    -- The flag crowd of the operator is read from the row that is locked here, so that a
    -- concurrent change of its type is counted either before or after this call.
    INSERT INTO operator_totals AS t (user_id, total)
    SELECT user_id, count(*) FROM filed GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET total = t.total + excluded.total
    RETURNING user_id, crowd
), counted AS (
    -- INSERT is used even for existing rows, because an UPDATE could be planned as a scan of
    -- the whole table while the table is small.
    INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no, called_at)
    SELECT market_id, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes),
        count(*) FILTER (WHERE yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        count(*) FILTER (WHERE NOT yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        @now::timestamptz
    FROM filed
    GROUP BY market_id ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET
        yes = t.yes + excluded.yes, no = t.no + excluded.no,
        crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no,
        called_at = excluded.called_at
    RETURNING market_id, crowd_yes, crowd_no
), opened AS (
    INSERT INTO open_signals (signal_id, market_id, created_at)
    SELECT id, market_id, @now::timestamptz FROM filed
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, at)
    SELECT 'signal.created', f.market_id, f.user_id, f.id, @now::timestamptz
    FROM filed f
)
SELECT j.n::bigint AS n,
    (CASE WHEN j.verdict = 'file' AND j.id NOT IN (SELECT id FROM stored) THEN 'raced' ELSE j.verdict END)::text AS verdict,
    j.first_id::pg_catalog.uuid AS first_id, j.actor::pg_catalog.uuid AS actor, j.idle::boolean AS idle,
    j.paid::integer AS price_bps, j.basis::integer AS score_basis_bps, j.verified::boolean AS price_verified,
    j.rated::boolean AS rated, j.snap::int4 AS market_yes_bps, j.yes_price::int4 AS yes_price_bps,
    j.no_price::int4 AS no_price_bps, j.quote_at::pg_catalog.timestamptz AS quote_at
FROM judged AS j;

-- name: FileSignalsWithKey :many
-- Like FileSignals, for calls of which some have an idempotency key. It adds:
-- - the join with idempotency_keys (by idempotency_keys_pkey), which gives first_id and the verdicts replay (the key
--   was used for the same call) and reused (the key was used for another call);
-- - keyed, which stores the keys of the written calls.
WITH judged AS MATERIALIZED (
    SELECT i.n, i.id, i.market_id, a.id AS actor, i.yes, p.paid, i.crowd, i.confidence, i.ttr, i.take, i.source,
        i.channel_id, i.media_asset_id, i.reach, i.idem_key, i.body_hash, i.lean, m.end_date,
        s.snap, s.yes_price, s.no_price,
        CASE WHEN m.provider <> 'manual' AND s.yes_price IS NOT NULL THEN q.quoted_at END AS quote_at, q.quote_rule,
            q.quote_sha256,
        q.quote_stored, b.side IS NOT NULL AS verified,
        -- greatest ignores NULL, so the scoring price of an unverified call is its stated price.
        greatest(p.paid, b.side - sqlc.arg(tolerance)::integer) AS basis,
        CASE WHEN m.provider = 'manual' OR m.fetched_at IS NOT NULL THEN m.title ELSE i.market_id END AS title,
        CASE WHEN m.rated_ruling IS NOT NULL THEN m.rated_ruling
             WHEN m.provider = 'manual' THEN coalesce(m.created_by = 'admin', false)
             WHEN m.provider = 'manifold' THEN coalesce(ARRAY['*', m.creator] && sqlc.arg(rated_creators)::text[], false)
             ELSE coalesce(q.volume_usd, 0) >= sqlc.arg(rated_volume)::double precision END AS rated,
        k.hash IS NOT NULL AND coalesce(k.last_used_at < sqlc.arg(now)::timestamptz - interval '1 minute', true) AS idle,
        idem.result_id AS first_id,
        CASE
            WHEN a.id IS NULL THEN 'unauthenticated'
            WHEN idem.body_hash = i.body_hash THEN 'replay'
            WHEN idem.key IS NOT NULL THEN 'reused'
            WHEN m.market_id IS NULL THEN 'unknown'
            WHEN m.status = 'resolved' THEN 'settled'
            -- A proposal makes a native market provisional and expires after seven days.
            WHEN m.disputed OR m.provisional AND (m.provider <> 'manual'
                OR coalesce(m.provisional_at > sqlc.arg(now)::timestamptz - interval '7 days', true)) THEN 'provisional'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL AND i.venue = 0 THEN 'stub'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL AND i.venue = 2 THEN 'absent'
            WHEN m.status <> 'open' AND (m.status <> 'unknown' OR m.fetched_at IS NOT NULL) THEN 'provisional'
            WHEN m.end_date <= sqlc.arg(now)::timestamptz AND (@past_end_is_provisional::boolean OR m.provider = 'manual')
                THEN 'provisional'
            WHEN i.venue = 2 THEN 'provisional'
            WHEN b.side IS NULL AND i.venue = 0 THEN 'quote'
            WHEN b.side - p.paid > i.slippage OR p.off THEN 'moved'
            WHEN b.side IS NULL AND i.slippage IS NOT NULL AND i.venue <> 3 THEN 'unverified'
            WHEN called_before(a.id, i.market_id) THEN 'raced'
            ELSE 'file'
        END AS verdict
    FROM (
        -- By market, because all transactions lock markets in this order.
        SELECT t.id, t.key_hash, t.user_id, t.market_id, t.yes, t.price, t.crowd, t.confidence, t.take, t.source, t.ttr,
            t.channel_id,
            t.media_asset_id, t.reach, t.idem_key, t.body_hash, t.lean, t.venue, t.slippage, t.n
        FROM unnest(
            @ids::uuid[], @key_hashes::bytea[], @user_ids::pg_catalog.uuid[], @market_ids::text[], @yes::boolean[],
            @prices::integer[], @crowds::int4[], @confidences::int2[], @takes::pg_catalog.text[], @sources::text[],
            @times_to_resolution::int4[], @channels::pg_catalog.text[], @media_assets::pg_catalog.text[], @reaches::int4[],
            @idem_keys::pg_catalog.text[], @body_hashes::bytea[], @leans::int4[], @venues::smallint[], @slippages::int4[]
        ) WITH ORDINALITY AS t (
            id, key_hash, user_id, market_id, yes, price,
            crowd, confidence, take, source, ttr, channel_id,
            media_asset_id, reach, idem_key, body_hash, lean, venue, slippage, n)
        ORDER BY market_id, n
    ) i
    LEFT JOIN operator_keys k ON k.hash = i.key_hash AND k.revoked_at IS NULL
    LEFT JOIN users u ON u.id = i.user_id
    CROSS JOIN LATERAL (SELECT coalesce(k.user_id, u.id)::uuid AS id) a
    LEFT JOIN LATERAL (
        SELECT market_id, provider, title, status, provisional, provisional_at, disputed, end_date, fetched_at,
            rated_ruling, created_by, creator, initial_yes_bps
        FROM markets WHERE market_id = i.market_id
        FOR SHARE SKIP LOCKED
    ) m ON true
    LEFT JOIN market_quotes q ON q.market_id = i.market_id
    CROSS JOIN LATERAL (
        -- snap is the middle price. A side of a native market costs the greater of its smoothed
        -- crowd price and its initial price. The quote of a native market has no time.
        SELECT CASE WHEN m.provider = 'manual' OR q.at >= sqlc.arg(now)::timestamptz - interval '15 minutes'
                THEN q.yes_bps END AS snap,
            CASE WHEN m.provider = 'manual' THEN greatest(q.yes_bps, m.initial_yes_bps)
                 WHEN q.quoted_at >= sqlc.arg(oldest_quote)::timestamptz THEN q.yes_price_bps END AS yes_price,
            CASE WHEN m.provider = 'manual' THEN 10000 - least(q.yes_bps, m.initial_yes_bps)
                 WHEN q.quoted_at >= sqlc.arg(oldest_quote)::timestamptz THEN q.no_price_bps END AS no_price) s
    CROSS JOIN LATERAL (SELECT CASE WHEN i.yes THEN s.yes_price ELSE s.no_price END AS side) b
    CROSS JOIN LATERAL (
        -- A NO call with the YES price is converted. With a bound on slippage it is rejected if the
        -- converted price differs from the price of the side by more than that bound.
        SELECT CASE WHEN c.other AND NOT c.off THEN 10000 - i.price ELSE i.price END AS paid, c.other AND c.off AS off
        FROM (SELECT NOT i.yes AND coalesce(abs(i.price - s.snap) < abs(i.price - (10000 - s.snap)), false) AS other,
            coalesce(abs(10000 - i.price - b.side) > i.slippage, false) AS off) c) p
    LEFT JOIN idempotency_keys idem ON idem.user_id = a.id AND idem.key = i.idem_key
        AND idem.created_at > sqlc.arg(now)::timestamptz - interval '24 hours'
), filed AS (
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified,
        crowd_yes_bps, confidence, ttr, created_at, market_title, text_take, source,
        channel_id, media_asset_id, reach, rated, quote_at, market_yes_bps, closes_at)
    SELECT j.id, j.market_id, j.actor, j.yes, j.paid, j.basis, j.verified,
        coalesce(j.crowd, j.snap), j.confidence,
        coalesce(j.ttr, CASE WHEN j.end_date IS NOT NULL
            THEN least(315360000, greatest(0, floor(extract(epoch FROM j.end_date - sqlc.arg(now)::timestamptz))))::integer END),
        @now::timestamptz, j.title, j.take, j.source, j.channel_id, j.media_asset_id, j.reach,
        j.rated, j.quote_at, j.snap, j.end_date
    FROM judged j
    WHERE j.verdict = 'file'
    ORDER BY j.market_id, j.actor, j.n
    ON CONFLICT DO NOTHING
    RETURNING id, market_id, user_id, yes
), stored AS (
    SELECT id FROM filed
), compared AS (
    -- The quote of a verified call is stored, so that its scoring price can be recomputed. It
    -- is stored here unless the refresh that read the quote has stored it.
    INSERT INTO quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256)
    SELECT j.market_id, j.quote_at, j.yes_price, j.no_price, coalesce(j.quote_rule, ''), j.quote_sha256
    FROM judged j WHERE j.verdict = 'file' AND j.quote_at IS NOT NULL AND NOT j.quote_stored
    ORDER BY j.market_id
    ON CONFLICT (market_id, at) DO NOTHING
), operator_count AS (
    -- The flag crowd of the operator is read from the row that is locked here, so that a
    -- concurrent change of its type is counted either before or after this call.
    INSERT INTO operator_totals AS t (user_id, total)
    SELECT user_id, count(*) FROM filed GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET total = t.total + excluded.total
    RETURNING user_id, crowd
), counted AS (
    -- INSERT is used even for existing rows, because an UPDATE could be planned as a scan of
    -- the whole table while the table is small.
    INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no, called_at)
    SELECT market_id, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes),
        count(*) FILTER (WHERE yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        count(*) FILTER (WHERE NOT yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        @now::timestamptz
    FROM filed
    GROUP BY market_id ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET
        yes = t.yes + excluded.yes, no = t.no + excluded.no,
        crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no,
        called_at = excluded.called_at
    RETURNING market_id, crowd_yes, crowd_no
), opened AS (
    INSERT INTO open_signals (signal_id, market_id, created_at)
    SELECT id, market_id, @now::timestamptz FROM filed
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, at)
    SELECT 'signal.created', f.market_id, f.user_id, f.id, @now::timestamptz
    FROM filed f
), keyed AS (
    INSERT INTO idempotency_keys AS k (user_id, key, body_hash, result_id, created_at)
    SELECT j.actor, j.idem_key, j.body_hash, j.id, @now::timestamptz
    FROM judged j WHERE j.idem_key IS NOT NULL AND j.id = ANY (ARRAY(SELECT id FROM stored))
    ORDER BY j.actor, j.idem_key
    -- If another call has stored the key in the meantime, result_id becomes NULL, which fails
    -- the whole statement. Each call is then written in a separate statement and finds the key.
    ON CONFLICT (user_id, key) DO UPDATE SET body_hash = excluded.body_hash, created_at = excluded.created_at,
        result_id = CASE WHEN k.created_at <= sqlc.arg(now)::timestamptz - interval '24 hours' THEN excluded.result_id END
)
SELECT j.n::bigint AS n,
    (CASE WHEN j.verdict = 'file' AND j.id NOT IN (SELECT id FROM stored) THEN 'raced' ELSE j.verdict END)::text AS verdict,
    j.first_id::pg_catalog.uuid AS first_id, j.actor::pg_catalog.uuid AS actor, j.idle::boolean AS idle,
    j.paid::integer AS price_bps, j.basis::integer AS score_basis_bps, j.verified::boolean AS price_verified,
    j.rated::boolean AS rated, j.snap::int4 AS market_yes_bps, j.yes_price::int4 AS yes_price_bps,
    j.no_price::int4 AS no_price_bps, j.quote_at::pg_catalog.timestamptz AS quote_at
FROM judged AS j;

-- name: FileSignalsFull :many
-- Like FileSignalsWithKey, for all calls. It adds:
-- - unconfirmed and waiting: a call on a market that no venue has confirmed is written to unconfirmed_signals instead
--   of signals;
-- - native and snapshots: the new price of each native market is written to market_quotes and market_prices;
-- - audited: crowdLeanBps is written to the audit log.
WITH judged AS MATERIALIZED (
    SELECT i.n, i.id, i.market_id, a.id AS actor, i.yes, p.paid, i.crowd, i.confidence, i.ttr, i.take, i.source,
        i.channel_id, i.media_asset_id, i.reach, i.idem_key, i.body_hash, i.lean, m.end_date,
        s.snap, s.yes_price, s.no_price,
        CASE WHEN m.provider <> 'manual' AND s.yes_price IS NOT NULL THEN q.quoted_at END AS quote_at, q.quote_rule,
            q.quote_sha256,
        q.quote_stored, b.side IS NOT NULL AS verified,
        -- greatest ignores NULL, so the scoring price of an unverified call is its stated price.
        greatest(p.paid, b.side - sqlc.arg(tolerance)::integer) AS basis,
        CASE WHEN m.provider = 'manual' OR m.fetched_at IS NOT NULL THEN m.title ELSE i.market_id END AS title,
        CASE WHEN m.rated_ruling IS NOT NULL THEN m.rated_ruling
             WHEN m.provider = 'manual' THEN coalesce(m.created_by = 'admin', false)
             WHEN m.provider = 'manifold' THEN coalesce(ARRAY['*', m.creator] && sqlc.arg(rated_creators)::text[], false)
             ELSE coalesce(q.volume_usd, 0) >= sqlc.arg(rated_volume)::double precision END AS rated,
        k.hash IS NOT NULL AND coalesce(k.last_used_at < sqlc.arg(now)::timestamptz - interval '1 minute', true) AS idle,
        idem.result_id AS first_id,
        CASE
            WHEN a.id IS NULL THEN 'unauthenticated'
            WHEN idem.body_hash = i.body_hash THEN 'replay'
            WHEN idem.key IS NOT NULL THEN 'reused'
            WHEN m.market_id IS NULL THEN 'unknown'
            WHEN m.status = 'resolved' THEN 'settled'
            -- A proposal makes a native market provisional and expires after seven days.
            WHEN m.disputed OR m.provisional AND (m.provider <> 'manual'
                OR coalesce(m.provisional_at > sqlc.arg(now)::timestamptz - interval '7 days', true)) THEN 'provisional'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL AND i.venue = 0 THEN 'stub'
            WHEN m.status = 'unknown' AND m.fetched_at IS NULL AND i.venue = 2 THEN 'absent'
            WHEN m.status <> 'open' AND (m.status <> 'unknown' OR m.fetched_at IS NOT NULL) THEN 'provisional'
            WHEN m.end_date <= sqlc.arg(now)::timestamptz AND (@past_end_is_provisional::boolean OR m.provider = 'manual')
                THEN 'provisional'
            WHEN i.venue = 2 THEN 'provisional'
            WHEN b.side IS NULL AND i.venue = 0 THEN 'quote'
            WHEN b.side - p.paid > i.slippage OR p.off THEN 'moved'
            WHEN b.side IS NULL AND i.slippage IS NOT NULL AND i.venue <> 3 THEN 'unverified'
            WHEN called_before(a.id, i.market_id) THEN 'raced'
            ELSE 'file'
        END AS verdict,
        m.provider <> 'manual' AND m.fetched_at IS NULL AS unconfirmed
    FROM (
        -- By market, because all transactions lock markets in this order.
        SELECT t.id, t.key_hash, t.user_id, t.market_id, t.yes, t.price, t.crowd, t.confidence, t.take, t.source, t.ttr,
            t.channel_id,
            t.media_asset_id, t.reach, t.idem_key, t.body_hash, t.lean, t.venue, t.slippage, t.n
        FROM unnest(
            @ids::uuid[], @key_hashes::bytea[], @user_ids::pg_catalog.uuid[], @market_ids::text[], @yes::boolean[],
            @prices::integer[], @crowds::int4[], @confidences::int2[], @takes::pg_catalog.text[], @sources::text[],
            @times_to_resolution::int4[], @channels::pg_catalog.text[], @media_assets::pg_catalog.text[], @reaches::int4[],
            @idem_keys::pg_catalog.text[], @body_hashes::bytea[], @leans::int4[], @venues::smallint[], @slippages::int4[]
        ) WITH ORDINALITY AS t (
            id, key_hash, user_id, market_id, yes, price,
            crowd, confidence, take, source, ttr, channel_id,
            media_asset_id, reach, idem_key, body_hash, lean, venue, slippage, n)
        ORDER BY market_id, n
    ) i
    LEFT JOIN operator_keys k ON k.hash = i.key_hash AND k.revoked_at IS NULL
    LEFT JOIN users u ON u.id = i.user_id
    CROSS JOIN LATERAL (SELECT coalesce(k.user_id, u.id)::uuid AS id) a
    LEFT JOIN LATERAL (
        SELECT market_id, provider, title, status, provisional, provisional_at, disputed, end_date, fetched_at,
            rated_ruling, created_by, creator, initial_yes_bps
        FROM markets WHERE market_id = i.market_id
        FOR SHARE SKIP LOCKED
    ) m ON true
    LEFT JOIN market_quotes q ON q.market_id = i.market_id
    CROSS JOIN LATERAL (
        -- snap is the middle price. A side of a native market costs the greater of its smoothed
        -- crowd price and its initial price. The quote of a native market has no time.
        SELECT CASE WHEN m.provider = 'manual' OR q.at >= sqlc.arg(now)::timestamptz - interval '15 minutes'
                THEN q.yes_bps END AS snap,
            CASE WHEN m.provider = 'manual' THEN greatest(q.yes_bps, m.initial_yes_bps)
                 WHEN q.quoted_at >= sqlc.arg(oldest_quote)::timestamptz THEN q.yes_price_bps END AS yes_price,
            CASE WHEN m.provider = 'manual' THEN 10000 - least(q.yes_bps, m.initial_yes_bps)
                 WHEN q.quoted_at >= sqlc.arg(oldest_quote)::timestamptz THEN q.no_price_bps END AS no_price) s
    CROSS JOIN LATERAL (SELECT CASE WHEN i.yes THEN s.yes_price ELSE s.no_price END AS side) b
    CROSS JOIN LATERAL (
        -- A NO call with the YES price is converted. With a bound on slippage it is rejected if the
        -- converted price differs from the price of the side by more than that bound.
        SELECT CASE WHEN c.other AND NOT c.off THEN 10000 - i.price ELSE i.price END AS paid, c.other AND c.off AS off
        FROM (SELECT NOT i.yes AND coalesce(abs(i.price - s.snap) < abs(i.price - (10000 - s.snap)), false) AS other,
            coalesce(abs(10000 - i.price - b.side) > i.slippage, false) AS off) c) p
    LEFT JOIN idempotency_keys idem ON idem.user_id = a.id AND idem.key = i.idem_key
        AND idem.created_at > sqlc.arg(now)::timestamptz - interval '24 hours'
), filed AS (
    INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified,
        crowd_yes_bps, confidence, ttr, created_at, market_title, text_take, source,
        channel_id, media_asset_id, reach, rated, quote_at, market_yes_bps, closes_at)
    SELECT j.id, j.market_id, j.actor, j.yes, j.paid, j.basis, j.verified,
        coalesce(j.crowd, j.snap), j.confidence,
        coalesce(j.ttr, CASE WHEN j.end_date IS NOT NULL
            THEN least(315360000, greatest(0, floor(extract(epoch FROM j.end_date - sqlc.arg(now)::timestamptz))))::integer END),
        @now::timestamptz, j.title, j.take, j.source, j.channel_id, j.media_asset_id, j.reach,
        j.rated, j.quote_at, j.snap, j.end_date
    FROM judged j
    WHERE j.verdict = 'file'
        AND NOT j.unconfirmed
    ORDER BY j.market_id, j.actor, j.n
    ON CONFLICT DO NOTHING
    RETURNING id, market_id, user_id, yes
), waiting AS (
    -- Calls on markets that no venue has confirmed. They are not public until publish_signals publishes them.
    INSERT INTO unconfirmed_signals (signal_id, market_id, user_id, yes, price_bps, crowd_yes_bps, confidence, ttr, created_at,
        text_take, source, channel_id, media_asset_id, reach)
    SELECT j.id, j.market_id, j.actor, j.yes, j.paid, j.crowd, j.confidence, j.ttr, @now::timestamptz,
        j.take, j.source, j.channel_id, j.media_asset_id, j.reach
    FROM judged j
    WHERE j.verdict = 'file' AND j.unconfirmed
    ORDER BY j.market_id, j.actor, j.n
    ON CONFLICT DO NOTHING
    RETURNING signal_id
), stored AS (
    SELECT id FROM filed
    UNION ALL SELECT signal_id FROM waiting
), compared AS (
    -- The quote of a verified call is stored, so that its scoring price can be recomputed. It
    -- is stored here unless the refresh that read the quote has stored it.
    INSERT INTO quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256)
    SELECT j.market_id, j.quote_at, j.yes_price, j.no_price, coalesce(j.quote_rule, ''), j.quote_sha256
    FROM judged j WHERE j.verdict = 'file' AND j.quote_at IS NOT NULL AND NOT j.quote_stored
    ORDER BY j.market_id
    ON CONFLICT (market_id, at) DO NOTHING
), operator_count AS (
    -- The flag crowd of the operator is read from the row that is locked here, so that a
    -- concurrent change of its type is counted either before or after this call.
    INSERT INTO operator_totals AS t (user_id, total)
    SELECT user_id, count(*) FROM filed GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET total = t.total + excluded.total
    RETURNING user_id, crowd
), counted AS (
    -- INSERT is used even for existing rows, because an UPDATE could be planned as a scan of
    -- the whole table while the table is small.
    INSERT INTO market_totals AS t (market_id, yes, no, crowd_yes, crowd_no, called_at)
    SELECT market_id, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes),
        count(*) FILTER (WHERE yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        count(*) FILTER (WHERE NOT yes AND user_id IN (SELECT user_id FROM operator_count WHERE crowd)),
        @now::timestamptz
    FROM filed
    GROUP BY market_id ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET
        yes = t.yes + excluded.yes, no = t.no + excluded.no,
        crowd_yes = t.crowd_yes + excluded.crowd_yes, crowd_no = t.crowd_no + excluded.crowd_no,
        called_at = excluded.called_at
    RETURNING market_id, crowd_yes, crowd_no
), native AS (
    -- The price of a native market is its smoothed crowd, so the statement that changes the crowd also stores the
    -- price.
    INSERT INTO market_quotes (market_id, at, yes_bps)
    SELECT c.market_id, @now::timestamptz, least(9900, greatest(100,
        round((8.0 * p.prior + 10000.0 * c.crowd_yes) / (8 + c.crowd_yes + c.crowd_no))))::integer
    FROM counted c
    CROSS JOIN LATERAL (SELECT initial_yes_bps AS prior FROM markets WHERE market_id = c.market_id) p
    WHERE p.prior IS NOT NULL
    ORDER BY c.market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at, yes_bps = excluded.yes_bps
    RETURNING market_id, yes_bps
), snapshots AS (
    INSERT INTO market_prices (market_id, at, yes_bps)
    SELECT market_id, @now::timestamptz, yes_bps FROM native
    ON CONFLICT (market_id, at) DO UPDATE SET yes_bps = excluded.yes_bps
), opened AS (
    INSERT INTO open_signals (signal_id, market_id, created_at)
    SELECT id, market_id, @now::timestamptz FROM filed
), queued AS (
    INSERT INTO outbox (type, market_id, user_id, signal_id, at)
    SELECT 'signal.created', f.market_id, f.user_id, f.id, @now::timestamptz
    FROM filed f
), keyed AS (
    INSERT INTO idempotency_keys AS k (user_id, key, body_hash, result_id, created_at)
    SELECT j.actor, j.idem_key, j.body_hash, j.id, @now::timestamptz
    FROM judged j WHERE j.idem_key IS NOT NULL AND j.id = ANY (ARRAY(SELECT id FROM stored))
    ORDER BY j.actor, j.idem_key
    -- If another call has stored the key in the meantime, result_id becomes NULL, which fails
    -- the whole statement. Each call is then written in a separate statement and finds the key.
    ON CONFLICT (user_id, key) DO UPDATE SET body_hash = excluded.body_hash, created_at = excluded.created_at,
        result_id = CASE WHEN k.created_at <= sqlc.arg(now)::timestamptz - interval '24 hours' THEN excluded.result_id END
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT @now::timestamptz, j.actor::text, 'signal.crowd_lean', j.id::text, jsonb_build_object('crowdLeanBps', j.lean)
    FROM judged j WHERE j.lean IS NOT NULL AND j.id = ANY (ARRAY(SELECT id FROM stored))
)
SELECT j.n::bigint AS n,
    (CASE WHEN j.verdict = 'file' AND j.id NOT IN (SELECT id FROM stored) THEN 'raced' ELSE j.verdict END)::text AS verdict,
    j.first_id::pg_catalog.uuid AS first_id, j.actor::pg_catalog.uuid AS actor, j.idle::boolean AS idle,
    j.paid::integer AS price_bps, j.basis::integer AS score_basis_bps, j.verified::boolean AS price_verified,
    j.rated::boolean AS rated, j.snap::int4 AS market_yes_bps, j.yes_price::int4 AS yes_price_bps,
    j.no_price::int4 AS no_price_bps, j.quote_at::pg_catalog.timestamptz AS quote_at
FROM judged AS j;
