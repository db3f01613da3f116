-- The newest answers: $1 market, $2 time of the request, $3 middle, $4 to $7 volumes, $8
-- whether the market is open, $9 to $13 price of each side with its time, source and digest
-- of the answer (null without a quote), $14 now. Every writer of an answer starts here, in the
-- order of ids, so that writers of one market wait for each other. An answer that is not newer
-- than the stored one is not returned and changes nothing. A streamed price that is newer than
-- the answer stays, and so does a quote of the same time or newer: a time has one quote, here and
-- in quotes, so that calls follow from the stored row. The quote of an open market with a call in
-- the last ten minutes leaves a row in quotes, and quote_stored says so.
WITH input AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::integer[], $4::double precision[], $5::double precision[],
            $6::double precision[], $7::double precision[], $8::boolean[], $9::integer[], $10::integer[],
            $11::timestamptz[], $12::text[], $13::bytea[])
        AS i (market_id, at, yes_bps, volume, volume_usd, volume24h, liquidity, open, yes_price_bps, no_price_bps,
            quoted_at, quote_rule, quote_sha256)
), newer AS (
    INSERT INTO market_quotes AS q (market_id, at, yes_bps, volume, volume_usd, volume24h, liquidity, open_at,
        yes_price_bps, no_price_bps, quoted_at, quote_rule, quote_sha256, quote_stored)
    SELECT i.market_id, i.at, i.yes_bps, i.volume, i.volume_usd, i.volume24h, i.liquidity, CASE WHEN i.open THEN i.at END,
        i.yes_price_bps, i.no_price_bps, i.quoted_at, i.quote_rule, i.quote_sha256,
        i.open AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = i.market_id AND t.called_at > $14::timestamptz - interval '10 minutes')
    FROM input i
    LEFT JOIN markets m ON m.market_id = i.market_id
    WHERE m.market_id IS NULL OR m.status <> 'resolved' AND m.provider <> 'manual'
    ORDER BY i.market_id
    ON CONFLICT (market_id) DO UPDATE SET at = greatest(q.at, excluded.at),
        answered_at = CASE WHEN q.at > excluded.at THEN excluded.at END,
        yes_bps = CASE WHEN q.at > excluded.at THEN q.yes_bps ELSE excluded.yes_bps END,
        volume = excluded.volume, volume_usd = excluded.volume_usd, volume24h = excluded.volume24h, liquidity = excluded.liquidity,
        open_at = greatest(q.open_at, excluded.open_at),
        (yes_price_bps, no_price_bps, quoted_at, quote_rule, quote_sha256) = (
            SELECT n.yes, n.no, n.at, n.rule, n.sha256 FROM (VALUES
                (q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256, 1),
                (excluded.yes_price_bps, excluded.no_price_bps, excluded.quoted_at, excluded.quote_rule, excluded.quote_sha256, 2)
            ) AS n (yes, no, at, rule, sha256, turn)
            ORDER BY n.at DESC NULLS LAST, n.turn LIMIT 1),
        quote_stored = excluded.quote_stored OR q.quote_stored AND coalesce(q.quoted_at >= excluded.quoted_at, excluded.quoted_at IS NULL)
        WHERE coalesce(q.answered_at, q.at) < excluded.at
    RETURNING q.market_id, q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256, q.quote_stored
), stored AS (
    INSERT INTO quotes (market_id, at, yes_price_bps, no_price_bps, rule, answer_sha256)
    SELECT n.market_id, n.quoted_at, n.yes_price_bps, n.no_price_bps, n.quote_rule, n.quote_sha256
    FROM newer n
    WHERE n.quote_stored AND n.quoted_at IS NOT NULL
    ORDER BY n.market_id
    ON CONFLICT (market_id, at) DO NOTHING
)
SELECT market_id FROM newer
