-- Streamed prices: $1 market, $2 when, $3 middle, $4 to $7 price of each side with its time and
-- source (null without a quote), $8 now. Each is stored where it is newer than what is stored of
-- an open market, and becomes a snapshot where the last one is older than fifteen seconds. A
-- stored quote of the same time or newer stays. The quote of a market with a call in the last ten
-- minutes leaves a row in quotes, at most one in five seconds. Rows are locked in the order of
-- ids, as by all writers of quotes. It returns the number of newer prices.
WITH held AS MATERIALIZED (
    SELECT q.market_id, i.at, i.yes_bps, i.yes_price_bps, i.no_price_bps, i.quoted_at, i.quote_rule,
        EXISTS (SELECT FROM market_totals t WHERE t.market_id = i.market_id AND t.called_at > $8::timestamptz - interval '10 minutes')
            AND NOT EXISTS (SELECT FROM quotes r WHERE r.market_id = i.market_id AND r.at > i.quoted_at - interval '5 seconds') AS store
    FROM unnest($1::text[], $2::timestamptz[], $3::integer[], $4::integer[], $5::integer[], $6::timestamptz[], $7::text[])
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
    RETURNING q.market_id, q.at, q.yes_bps, q.yes_price_bps, q.no_price_bps, q.quoted_at, q.quote_rule, q.quote_sha256, q.quote_stored
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
SELECT count(*) FROM told
