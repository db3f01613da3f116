-- name: StoreQuotes :many
-- Stores the newest answers of venues: the middle price, volumes, whether the market is open, and the price of each
-- side with its time, source and digest of the answer (null without a quote). Every writer of an answer executes this
-- statement first, in the order of ids, so that writers of one market are serialized. An answer that is not newer than
-- the stored one is not returned and changes nothing. A streamed price that is newer than the answer is preserved, and
-- so is a quote with the same or a later time. A time has only one quote, here and in quotes, so that the price of a
-- call follows from the stored row. The quote of an open market with a call in the last ten minutes is also stored in
-- quotes; quote_stored records this.
WITH input AS MATERIALIZED (
    SELECT i.market_id, i.at, i.yes_bps, i.volume, i.volume_usd, i.volume24h, i.liquidity, i.open, i.yes_price_bps,
        i.no_price_bps, i.quoted_at, i.quote_rule, i.quote_sha256
    FROM unnest(
        @market_ids::text[], @at::timestamptz[], @yes_bps::int4[], @volume::float8[], @volume_usd::float8[],
        @volume24h::float8[], @liquidity::float8[], @open::boolean[], @yes_price_bps::int4[], @no_price_bps::int4[],
        @quoted_at::pg_catalog.timestamptz[], @quote_rule::pg_catalog.text[], @quote_sha256::bytea[])
        AS i (market_id, at, yes_bps, volume, volume_usd, volume24h, liquidity, open, yes_price_bps, no_price_bps, quoted_at,
            quote_rule, quote_sha256)
), newer AS (
    INSERT INTO market_quotes AS q (market_id, at, yes_bps, volume, volume_usd, volume24h, liquidity, open_at,
        yes_price_bps, no_price_bps, quoted_at, quote_rule, quote_sha256, quote_stored)
    SELECT i.market_id, i.at, i.yes_bps, i.volume, i.volume_usd, i.volume24h, i.liquidity, CASE WHEN i.open THEN i.at END,
        i.yes_price_bps, i.no_price_bps, i.quoted_at, i.quote_rule, i.quote_sha256,
        i.open AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = i.market_id
            AND t.called_at > sqlc.arg(now)::timestamptz - interval '10 minutes')
    FROM input i
    LEFT JOIN markets m ON m.market_id = i.market_id
    WHERE m.market_id IS NULL OR m.status <> 'resolved' AND m.provider <> 'manual'
    ORDER BY i.market_id
    ON CONFLICT (market_id) DO UPDATE SET at = greatest(q.at, excluded.at),
        answered_at = CASE WHEN q.at > excluded.at THEN excluded.at END,
        yes_bps = CASE WHEN q.at > excluded.at THEN q.yes_bps ELSE excluded.yes_bps END,
        volume = excluded.volume, volume_usd = excluded.volume_usd, volume24h = excluded.volume24h,
            liquidity = excluded.liquidity,
        open_at = greatest(q.open_at, excluded.open_at),
        (yes_price_bps, no_price_bps, quoted_at, quote_rule, quote_sha256) = (
            SELECT n.yes, n.no, n.at, n.rule, n.sha256 FROM (VALUES
                (q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256, 1),
                (excluded.yes_price_bps, excluded.no_price_bps, excluded.quoted_at, excluded.quote_rule, excluded.quote_sha256, 2)
            ) AS n (yes, no, at, rule, sha256, turn)
            ORDER BY n.at DESC NULLS LAST, n.turn LIMIT 1),
        quote_stored = excluded.quote_stored OR q.quote_stored AND coalesce(q.quoted_at >= excluded.quoted_at,
            excluded.quoted_at IS NULL)
        WHERE coalesce(q.answered_at, q.at) < excluded.at
    RETURNING q.market_id, q.yes_bps, q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256, q.quote_stored
), stored AS (
    INSERT INTO quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256)
    SELECT n.market_id, n.quoted_at, n.yes_price_bps, n.no_price_bps, n.quote_rule, n.quote_sha256
    FROM newer n
    WHERE n.quote_stored AND n.quoted_at IS NOT NULL
    ORDER BY n.market_id
    ON CONFLICT (market_id, at) DO NOTHING
)
-- The statement reads market_quotes as it was before its own changes.
SELECT n.market_id, ((o.yes_bps, o.yes_price_bps, o.no_price_bps)
    IS DISTINCT FROM (n.yes_bps, n.yes_price_bps, n.no_price_bps))::boolean AS moved
FROM newer n LEFT JOIN market_quotes o ON o.market_id = n.market_id;

-- name: StoreMarkets :exec
-- Stores the parts of venue answers that are not prices. A row is written only if it changes: a call locks the row FOR
-- SHARE and must not wait for price updates. Resolved markets do not change. closed_at and provisional_at are the times
-- of the first answers with that state, until the market is open again. final_at is the time of the first answer with
-- the final verdict; another verdict, or none, resets it. Members that a short answer omits keep their values, and so
-- does a lane that an administrator set. The venue's end of trading is preserved until the market reopens.
WITH answer AS MATERIALIZED (
    SELECT i.market_id, i.at, i.provider, i.title, i.description, i.status, i.provisional, i.end_date, i.final_verdict,
        i.final_payout, i.lane, i.category, i.slug, i.event_key, i.event_title, i.condition_id, i.clob_token_id, i.yes_index,
        i.labels, i.image_url, i.url, i.volume_unit, i.short, i.guessed, i.creator, i.closed
    FROM unnest(
        @market_ids::text[], @at::timestamptz[], @provider::text[], @title::text[], @description::text[], @status::text[],
        @provisional::boolean[], @end_date::pg_catalog.timestamptz[], @final_verdict::pg_catalog.text[],
        @final_payout::pg_catalog.text[], @lane::text[], @category::text[], @slug::text[], @event_key::text[],
        @event_title::text[], @condition_id::text[], @clob_token_id::text[], @yes_index::smallint[], @labels::text[],
        @image_url::text[], @url::text[], @volume_unit::text[], @short::boolean[], @guessed::boolean[], @creator::text[],
        @closed::pg_catalog.timestamptz[])
        AS i (market_id, at, provider, title, description, status, provisional, end_date, final_verdict, final_payout, lane,
            category, slug, event_key, event_title, condition_id, clob_token_id, yes_index, labels, image_url, url,
            volume_unit, short, guessed, creator, closed)
), input AS MATERIALIZED (
    SELECT i.market_id, i.at, i.provider, i.status, i.provisional, i.end_date, i.final_verdict, i.final_payout,
        i.yes_index, i.volume_unit, string_to_array(i.labels, E'\x1f') AS outcome_labels,
        CASE WHEN i.short AND right(k.title, length(i.title)) = i.title THEN k.title ELSE i.title END AS title,
        CASE WHEN i.short AND i.description = '' THEN coalesce(k.description, '') ELSE i.description END AS description,
        CASE WHEN k.lane_ruled OR i.guessed AND k.lane <> 'OTHER' THEN k.lane ELSE i.lane END AS lane,
        CASE WHEN k.lane_ruled OR i.guessed AND k.lane <> 'OTHER' THEN k.category ELSE i.category END AS category,
        CASE WHEN i.short AND i.slug = '' THEN coalesce(k.slug, '') ELSE i.slug END AS slug,
        CASE WHEN i.short AND i.event_key = '' THEN coalesce(k.event_key, '') ELSE i.event_key END AS event_key,
        CASE WHEN i.short AND i.event_title = '' THEN coalesce(k.event_title, '') ELSE i.event_title END AS event_title,
        CASE WHEN i.short AND i.condition_id = '' THEN coalesce(k.condition_id, '') ELSE i.condition_id END AS condition_id,
        CASE WHEN i.short AND i.clob_token_id = '' THEN coalesce(k.clob_token_id, '') ELSE i.clob_token_id END AS clob_token_id,
        CASE WHEN i.short AND i.image_url = '' THEN coalesce(k.image_url, '') ELSE i.image_url END AS image_url,
        CASE WHEN i.short AND i.url = '' THEN coalesce(k.url, '') ELSE i.url END AS url,
        CASE WHEN i.creator = '' THEN coalesce(k.creator, '') ELSE i.creator END AS creator,
        CASE WHEN i.status <> 'open' THEN coalesce(i.closed, k.venue_closed_at) END AS venue_closed_at
    FROM answer i
    LEFT JOIN markets k ON k.market_id = i.market_id AND k.fetched_at IS NOT NULL -- not a stub
), next AS MATERIALIZED (
    SELECT i.market_id, i.at, i.provider, i.status, i.provisional, i.end_date, i.final_verdict, i.final_payout, i.yes_index,
        i.volume_unit, i.outcome_labels, i.title, i.description, i.lane, i.category, i.slug, i.event_key, i.event_title,
        i.condition_id, i.clob_token_id, i.image_url, i.url, i.creator, i.venue_closed_at, o.status AS from_status,
        CASE WHEN i.status = 'closed' THEN coalesce(o.closed_at, i.at) WHEN i.status <> 'open' THEN o.closed_at END AS closed_at,
        CASE WHEN i.provisional THEN coalesce(o.provisional_at, i.at) WHEN i.status <> 'open'
            THEN o.provisional_at END AS provisional_at,
        CASE WHEN i.final_verdict IS NULL THEN NULL
             WHEN o.final_verdict = i.final_verdict THEN o.final_at ELSE i.at END AS final_at
    FROM input i
    LEFT JOIN markets o ON o.market_id = i.market_id
    WHERE o.market_id IS NULL OR o.status <> 'resolved' AND o.provider <> 'manual' AND (
        o.fetched_at IS NULL OR
        (o.title, o.description, o.status, o.provisional, o.end_date, o.final_verdict, o.final_payout, o.lane, o.category,
         o.slug, o.event_key, o.event_title, o.condition_id, o.clob_token_id, o.yes_index, o.outcome_labels,
         o.image_url, o.url, o.volume_unit, o.creator, o.venue_closed_at)
        IS DISTINCT FROM
        (i.title, i.description, i.status, i.provisional, i.end_date, i.final_verdict, i.final_payout, i.lane, i.category,
         i.slug, i.event_key, i.event_title, i.condition_id, i.clob_token_id, i.yes_index, i.outcome_labels,
         i.image_url, i.url, i.volume_unit, i.creator, i.venue_closed_at))
), kept AS (
    INSERT INTO markets AS m (market_id, provider, title, description, status, provisional, end_date,
        closed_at, provisional_at, final_verdict, final_at, final_payout, lane, category, slug, event_key, event_title,
        condition_id, clob_token_id, yes_index, outcome_labels, image_url, url, volume_unit, creator, venue_closed_at,
        fetched_at, created_at, updated_at)
    SELECT market_id, provider, title, description, status, provisional, end_date,
        closed_at, provisional_at, final_verdict, final_at, final_payout, lane, category, slug, event_key, event_title,
        condition_id, clob_token_id, yes_index, outcome_labels, image_url, url, volume_unit, creator, venue_closed_at,
        at, @now::timestamptz, @now::timestamptz
    FROM next ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET title = excluded.title, description = excluded.description,
        status = excluded.status, provisional = excluded.provisional, end_date = excluded.end_date,
        closed_at = excluded.closed_at, provisional_at = excluded.provisional_at,
        final_verdict = excluded.final_verdict, final_at = excluded.final_at, final_payout = excluded.final_payout,
        lane = CASE WHEN m.lane_ruled THEN m.lane ELSE excluded.lane END,
        category = CASE WHEN m.lane_ruled THEN m.category ELSE excluded.category END, slug = excluded.slug,
            event_key = excluded.event_key,
        event_title = excluded.event_title, condition_id = excluded.condition_id, clob_token_id = excluded.clob_token_id,
        yes_index = excluded.yes_index, outcome_labels = excluded.outcome_labels, image_url = excluded.image_url,
        url = excluded.url, volume_unit = excluded.volume_unit, creator = excluded.creator,
        venue_closed_at = excluded.venue_closed_at, fetched_at = excluded.fetched_at, updated_at = excluded.updated_at
        WHERE m.status <> 'resolved'
    RETURNING m.market_id, m.status
), queued AS (
    INSERT INTO outbox (type, market_id, data, at)
    SELECT 'market.status', k.market_id, jsonb_build_object('from', n.from_status, 'to', k.status), @now::timestamptz
    FROM kept k JOIN next n ON n.market_id = k.market_id
    WHERE n.from_status <> k.status
    ORDER BY k.market_id
    RETURNING id
)
SELECT pg_notify('sc_outbox', '') FROM queued LIMIT 1;

-- name: StoreTicks :one
-- Stores streamed prices and returns the number of those that were newer, and the markets whose prices changed. A price
-- is stored if it is newer than the stored price of an open market. It becomes a snapshot if the last snapshot is older
-- than 15 seconds. A stored quote with the same or a later time is preserved. The quote of a market with a call in the
-- last ten minutes is also stored in quotes, at most one in five seconds. Rows are locked in the order of ids, as by all
-- writers of quotes.
WITH held AS MATERIALIZED (
    SELECT q.market_id, i.at, i.yes_bps, i.yes_price_bps, i.no_price_bps, i.quoted_at, i.quote_rule,
        EXISTS (SELECT FROM market_totals t WHERE t.market_id = i.market_id
            AND t.called_at > sqlc.arg(now)::timestamptz - interval '10 minutes')
            AND NOT EXISTS (SELECT FROM quotes r WHERE r.market_id = i.market_id
                AND r.at > i.quoted_at - interval '5 seconds') AS store
    FROM unnest(@market_ids::text[], @at::timestamptz[], @yes_bps::integer[], @yes_price_bps::int4[], @no_price_bps::int4[],
            @quoted_at::pg_catalog.timestamptz[], @quote_rule::pg_catalog.text[])
        AS i (market_id, at, yes_bps, yes_price_bps, no_price_bps, quoted_at, quote_rule)
    JOIN market_quotes q ON q.market_id = i.market_id
    JOIN markets m ON m.market_id = i.market_id
    WHERE m.status = 'open' AND NOT m.provisional AND m.provider <> 'manual' AND q.at < i.at
    ORDER BY q.market_id
    FOR UPDATE OF q
), told AS (
    UPDATE market_quotes q SET yes_bps = h.yes_bps, at = h.at, answered_at = coalesce(q.answered_at, q.at),
        (yes_price_bps, no_price_bps, quoted_at, quote_rule, quote_sha256) = (
            SELECT n.yes, n.no, n.at, n.rule, n.sha256 FROM (VALUES
                (q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256, 1),
                (h.yes_price_bps, h.no_price_bps, h.quoted_at, h.quote_rule, NULL::bytea, 2)
            ) AS n (yes, no, at, rule, sha256, turn)
            ORDER BY n.at DESC NULLS LAST, n.turn LIMIT 1),
        quote_stored = CASE WHEN coalesce(q.quoted_at >= h.quoted_at, h.quoted_at IS NULL) THEN q.quote_stored ELSE h.store END
    FROM held h
    WHERE q.market_id = h.market_id AND q.at < h.at
    RETURNING q.market_id, q.at, q.yes_bps, q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256,
        q.quote_stored
), kept AS (
    INSERT INTO market_prices (market_id, at, yes_bps)
    SELECT t.market_id, t.at, t.yes_bps FROM told t
    WHERE NOT EXISTS (SELECT FROM market_prices p WHERE p.market_id = t.market_id AND p.at > t.at - interval '15 seconds')
    ON CONFLICT (market_id, at) DO NOTHING
), stored AS (
    INSERT INTO quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256)
    SELECT q.market_id, q.quoted_at, q.yes_price_bps, q.no_price_bps, q.quote_rule, q.quote_sha256
    FROM told q
    WHERE q.quote_stored AND q.quoted_at IS NOT NULL
    ORDER BY q.market_id
    ON CONFLICT (market_id, at) DO NOTHING
)
SELECT count(*) AS newer, coalesce(array_agg(t.market_id) FILTER (WHERE (o.yes_bps, o.yes_price_bps, o.no_price_bps)
    IS DISTINCT FROM (t.yes_bps, t.yes_price_bps, t.no_price_bps)), '{}')::text[] AS moved
FROM told t JOIN market_quotes o ON o.market_id = t.market_id;

-- name: InsertSnapshots :exec
-- Stores snapshots of open markets: all of them (@every) or those with calls, and otherwise one in 15 minutes. A market
-- that is not open gets no snapshot, so that the effect of a result on the price never becomes the closing line.
INSERT INTO market_prices (market_id, at, yes_bps)
SELECT i.market_id, i.at, i.yes_bps
FROM unnest(@market_ids::text[], @at::timestamptz[], @yes_bps::int4[]) AS i (market_id, at, yes_bps)
WHERE i.yes_bps IS NOT NULL AND (
    @every::boolean
    OR EXISTS (SELECT FROM market_totals t WHERE t.market_id = i.market_id)
    OR NOT EXISTS (SELECT FROM market_prices p WHERE p.market_id = i.market_id AND p.at > i.at - interval '15 minutes'))
ORDER BY i.market_id
ON CONFLICT (market_id, at) DO NOTHING;

-- name: ThinSnapshots :execrows
-- Deletes snapshots from before a time, except the last one of each 15 minutes.
DELETE FROM market_prices WHERE (market_id, at) IN (
    SELECT p.market_id, p.at FROM market_prices AS p
    WHERE p.at < @before::timestamptz AND EXISTS (
        SELECT FROM market_prices AS later
        WHERE later.market_id = p.market_id AND later.at > p.at
            AND date_bin('15 minutes', later.at, 'epoch') = date_bin('15 minutes', p.at, 'epoch')
            AND later.at < @before::timestamptz)
    LIMIT sqlc.arg('limit'));
