-- Moves the first rows of the outbox into the feed, after the number $2, with the ids $1. The
-- data of an event is made of facts that were committed with its row and never change, except
-- the title of a market and the text of a dispute: those are the newest ones. Each row looks up
-- what its own type needs.
WITH taken AS (
    DELETE FROM outbox
    WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT cardinality($1::uuid[]))
    RETURNING id, type, market_id, user_id, signal_id, event_id, topic, data, at
), built AS (
    SELECT row_number() OVER (ORDER BY t.id) AS n, t.type, t.at, t.market_id, m.provider, m.lane, t.user_id, t.signal_id, t.topic, t.data AS more,
        CASE
        WHEN t.type = 'signal.created' THEN (
            SELECT jsonb_build_object(
                'id', s.id, 'operatorPublicId', u.public_id, 'handle', u.handle,
                'marketId', s.market_id, 'marketTitle', s.market_title,
                'direction', CASE WHEN s.yes THEN 'YES' ELSE 'NO' END,
                'priceAtPrediction', s.price_bps, 'crowdYesAtSignal', s.crowd_yes_bps,
                'status', 'pending', 'score', NULL, 'resolvedAt', NULL, 'textTake', s.text_take,
                'scoreBasisBps', s.score_basis_bps, 'priceVerified', s.price_verified, 'rated', s.rated, 'counted', NULL,
                'reason', NULL, 'confirmedAt', NULL, 'marketYesAtSignal', s.market_yes_bps,
                'quoteAt', to_char(s.quote_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'closesAtSignal', to_char(s.closes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'createdAt', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
            FROM signals s JOIN users u ON u.id = s.user_id
            WHERE s.id = t.signal_id)
        WHEN t.type = 'signal.event' THEN (
            SELECT jsonb_build_object(
                'id', e.signal_id, 'signalId', e.signal_id, 'handle', u.handle, 'marketId', s.market_id, 'marketTitle', s.market_title,
                'event', jsonb_build_object('id', e.id, 'type', e.type, 'payload', e.payload, 'actor', e.actor,
                    'createdAt', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
            FROM signal_events e JOIN signals s ON s.id = e.signal_id JOIN users u ON u.id = s.user_id
            WHERE e.id = t.event_id)
        WHEN t.type IN ('market.resolved', 'market.disputed', 'market.dispute_cleared') THEN (
            -- The resolution record of contract 4.3.4 as the event found it: a claim is
            -- made without a flag, and the two dispute events set and clear it.
            SELECT jsonb_build_object(
                'marketId', t.market_id, 'marketTitle', coalesce(h.title, m.title),
                'outcome', r.outcome, 'resolver', r.resolver, 'source', r.source, 'proofUrl', r.proof_url,
                'resolvedAt', to_char(r.resolved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'disputed', t.type = 'market.disputed',
                'disputeReason', CASE WHEN t.type = 'market.disputed' THEN d.reason END,
                'disputedAt', CASE WHEN t.type = 'market.disputed' THEN to_char(t.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END)
            FROM (SELECT) one
            LEFT JOIN market_resolutions r ON r.market_id = t.market_id
            LEFT JOIN market_disputes d ON d.market_id = t.market_id AND d.disputed)
        WHEN t.type LIKE 'market.%' THEN jsonb_build_object('marketId', t.market_id, 'marketTitle', coalesce(h.title, m.title))
        END AS data
    FROM taken t
    LEFT JOIN markets m ON m.market_id = t.market_id
    -- The title of a hidden market is left out by reads, while it is hidden.
    LEFT JOIN LATERAL (
        SELECT original ->> 'title' AS title FROM moderation
        WHERE t.type LIKE 'market.%' AND kind = 'market' AND id = t.market_id AND hidden LIMIT 1) h ON true
), added AS (
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, topic, data)
    SELECT $2 + n, ($1::uuid[])[n], type, at, market_id, provider, lane, user_id, signal_id, topic,
        CASE WHEN more IS NULL THEN coalesce(data, '{}') ELSE coalesce(data, '{}') || more END
    FROM built
    RETURNING type, market_id, at
), drains AS (
    INSERT INTO feed_drains (market_id, resolved_at)
    SELECT market_id, at FROM added WHERE type = 'market.resolved'
    ON CONFLICT (market_id) DO NOTHING
), head AS (
    UPDATE feed_head SET seq = $2 + (SELECT count(*) FROM added)
)
SELECT count(*) FROM added
