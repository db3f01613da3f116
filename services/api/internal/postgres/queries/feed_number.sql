-- Moves the first rows of the outbox into the feed, behind the number $2, with
-- the ids $1. What a row says is read here: its data is made of facts that were
-- committed with it and never change, so it reads the same whenever it runs. The
-- dispute's text alone is the newest one.
WITH taken AS (
    DELETE FROM outbox
    WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT cardinality($1::uuid[]))
    RETURNING id, type, market_id, user_id, signal_id, event_id, data, at
), numbered AS (
    SELECT row_number() OVER (ORDER BY id) AS n, type, market_id, user_id, signal_id, event_id, data, at FROM taken
), record AS (
    -- The resolution record of contract 4.3.4 as the event found it: a claim is
    -- made without a flag, and the two dispute events set and clear it.
    SELECT n.n, jsonb_build_object(
        'marketId', n.market_id,
        'outcome', r.outcome, 'resolver', r.resolver, 'source', r.source, 'proofUrl', r.proof_url,
        'resolvedAt', to_char(r.resolved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'disputed', n.type = 'market.disputed',
        'disputeReason', CASE WHEN n.type = 'market.disputed' THEN d.reason END,
        'disputedAt', CASE WHEN n.type = 'market.disputed' THEN to_char(n.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END
    ) AS data
    FROM numbered n
    LEFT JOIN market_resolutions r ON r.market_id = n.market_id
    LEFT JOIN market_disputes d ON d.market_id = n.market_id AND d.disputed
    WHERE n.type IN ('market.resolved', 'market.disputed', 'market.dispute_cleared')
), built AS (
    SELECT n.n, n.type, n.at, n.market_id, m.provider, m.lane, n.user_id, n.signal_id,
        CASE n.type
        WHEN 'signal.created' THEN jsonb_build_object(
            'id', s.id, 'operatorPublicId', u.public_id, 'handle', u.handle,
            'marketId', s.market_id, 'marketTitle', s.market_title,
            'direction', CASE WHEN s.yes THEN 'YES' ELSE 'NO' END,
            'priceAtPrediction', s.price_bps, 'crowdYesAtSignal', s.crowd_yes_bps,
            'status', 'pending', 'score', NULL, 'resolvedAt', NULL, 'textTake', s.text_take,
            'createdAt', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        WHEN 'signal.event' THEN jsonb_build_object(
            'signalId', e.signal_id,
            'event', jsonb_build_object('id', e.id, 'type', e.type, 'payload', e.payload, 'actor', e.actor,
                'createdAt', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
        ELSE coalesce(r.data, '{}')
        END || coalesce(n.data, '{}') AS data
    FROM numbered n
    LEFT JOIN record r ON r.n = n.n
    LEFT JOIN markets m ON m.market_id = n.market_id
    LEFT JOIN users u ON u.id = n.user_id
    LEFT JOIN signals s ON s.id = n.signal_id AND n.type = 'signal.created'
    LEFT JOIN signal_events e ON e.id = n.event_id AND n.type = 'signal.event'
), added AS (
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, data)
    SELECT $2 + n, ($1::uuid[])[n], type, at, market_id, provider, lane, user_id, signal_id, data FROM built
    RETURNING type, market_id, at
), drains AS (
    INSERT INTO feed_drains (market_id, resolved_at)
    SELECT market_id, at FROM added WHERE type = 'market.resolved'
    ON CONFLICT (market_id) DO NOTHING
), head AS (
    UPDATE feed_head SET seq = $2 + (SELECT count(*) FROM added)
)
SELECT count(*) FROM added
