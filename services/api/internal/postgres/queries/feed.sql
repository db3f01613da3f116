-- name: NotifyRelay :exec
-- Wakes the relay.
SELECT pg_notify('sc_outbox', '');

-- name: LockFeed :one
-- Returns the last sequence number of the feed and locks it until the end of the transaction. Two sequencers may
-- overlap for a short time; the lock makes them number one after the other.
SELECT seq FROM feed_head FOR UPDATE;

-- name: CountOutbox :one
-- Counts the entries of the outbox, up to @most.
SELECT count(*) FROM (SELECT FROM outbox LIMIT @most::bigint) AS o;

-- name: NumberEvents :one
-- Moves the first entries of the outbox into the feed, after the number @head, with the given ids, and returns their
-- number. The data of an event consists of facts that were committed with its entry and never change, except the title
-- and the sides of a market and the text of a dispute, which are the newest ones. Each entry reads only what its type
-- needs. The sides are absent if they are Yes and No, as in Sides of package market.
WITH taken AS (
    DELETE FROM outbox
    WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT cardinality(sqlc.arg(ids)::uuid[]))
    RETURNING id, type, market_id, user_id, signal_id, event_id, topic, data, at
), built AS (
    SELECT row_number() OVER (ORDER BY t.id) AS n, t.type, t.at, t.market_id, m.provider, m.lane, t.user_id, t.signal_id,
        t.topic, t.data AS more,
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
                'createdAt', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) || n.sides
            FROM signals s JOIN users u ON u.id = s.user_id
            WHERE s.id = t.signal_id)
        WHEN t.type = 'signal.event' THEN (
            SELECT jsonb_build_object(
                'id', e.signal_id, 'signalId', e.signal_id, 'handle', u.handle, 'marketId', s.market_id, 'marketTitle',
                    s.market_title,
                'event', jsonb_build_object('id', e.id, 'type', e.type, 'payload', e.payload, 'actor', e.actor,
                    'createdAt', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
            FROM signal_events e JOIN signals s ON s.id = e.signal_id JOIN users u ON u.id = s.user_id
            WHERE e.id = t.event_id)
        WHEN t.type IN ('market.resolved', 'market.disputed', 'market.dispute_cleared') THEN (
            -- The resolution record of the API at the time of the event: a claim is not disputed, and the two dispute
            -- events set and clear the flag.
            SELECT jsonb_build_object(
                'marketId', t.market_id, 'marketTitle', coalesce(h.title, m.title),
                'outcome', r.outcome, 'resolver', r.resolver, 'source', r.source, 'proofUrl', r.proof_url,
                'resolvedAt', to_char(r.resolved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'disputed', t.type = 'market.disputed',
                'disputeReason', CASE WHEN t.type = 'market.disputed' THEN d.reason END,
                'disputedAt', CASE WHEN t.type = 'market.disputed' THEN to_char(t.at AT TIME ZONE 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END) || n.sides
            FROM (SELECT) one
            LEFT JOIN market_resolutions r ON r.market_id = t.market_id
            LEFT JOIN market_disputes d ON d.market_id = t.market_id AND d.disputed)
        WHEN t.type LIKE 'market.%' THEN jsonb_build_object('marketId', t.market_id, 'marketTitle', coalesce(h.title, m.title))
        END AS data
    FROM taken t
    LEFT JOIN markets m ON m.market_id = t.market_id
    CROSS JOIN LATERAL (
        SELECT m.outcome_labels[m.yes_index + 1] AS yes, m.outcome_labels[2 - m.yes_index] AS no) l
    CROSS JOIN LATERAL (
        SELECT CASE WHEN cardinality(m.outcome_labels) = 2 AND l.yes <> '' AND l.no <> ''
                AND (lower(l.yes) <> 'yes' OR lower(l.no) <> 'no')
            THEN jsonb_build_object('sides', jsonb_build_object('yes', l.yes, 'no', l.no)) ELSE '{}' END AS sides) n
    -- While a market is hidden, reads omit its title. The original title is in moderation.
    LEFT JOIN LATERAL (
        SELECT original ->> 'title' AS title FROM moderation
        WHERE t.type LIKE 'market.%' AND kind = 'market' AND id = t.market_id AND hidden LIMIT 1) h ON true
), added AS (
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, topic, data)
    SELECT sqlc.arg(head)::bigint + n, (sqlc.arg(ids)::uuid[])[n], type, at, market_id, provider, lane, user_id, signal_id, topic,
        CASE WHEN more IS NULL THEN coalesce(data, '{}') ELSE coalesce(data, '{}') || more END
    FROM built
    RETURNING type, market_id, at
), drains AS (
    INSERT INTO feed_drains (market_id, resolved_at)
    SELECT a.market_id, a.at FROM added a
    WHERE a.type = 'market.resolved' AND EXISTS (SELECT FROM signals s WHERE s.market_id = a.market_id)
    ON CONFLICT (market_id) DO NOTHING
), head AS (
    UPDATE feed_head SET seq = sqlc.arg(head)::bigint + (SELECT count(*) FROM added)
)
SELECT count(*) FROM added;

-- name: GetNextDrain :one
-- Returns the oldest market whose signal.resolved events are not all numbered, except those in @skip, which wait for
-- results.
SELECT market_id, after_user FROM feed_drains
WHERE market_id <> ALL (@skip::text[])
ORDER BY resolved_at, market_id LIMIT 1;

-- name: NumberResults :one
-- Numbers the next signal.resolved events of a market, after an operator and after the number @head. Each is followed
-- by its moment.minted event, if there is one. @ids has two ids for each call of a chunk. The chunk ends at the first
-- call without a result. The same statement updates the scores and tallies by lane and closes the calls, so that each
-- update happens once for each call. Points are those of counted calls, tallies those of counted calls on venue
-- markets.
WITH batch AS (
    SELECT s.id, s.user_id, s.created_at, s.yes, s.market_title, s.confidence, coalesce(r.basis_bps, s.score_basis_bps) AS basis,
        within_price(coalesce(r.basis_bps, s.score_basis_bps)) AS price,
        s.price_verified, s.rated, r.status, r.score, r.clv_bps, r.scoring_vertical AS lane, r.resolved_at, r.counted, r.reason,
        r.counted AND sqlc.arg(market_id)::text NOT LIKE 'native-%' AS line,
        o.id AS moment, o.tier, o.odds_bps,
        row_number() OVER (ORDER BY s.user_id) AS n,
        count(o.id) OVER (ORDER BY s.user_id) AS minted, -- moments up to and including this call
        bool_and(r.signal_id IS NOT NULL) OVER (ORDER BY s.user_id) AS ready
    FROM (
        SELECT id, user_id, created_at, yes, market_title, confidence, score_basis_bps, price_verified, rated FROM signals
        WHERE market_id = sqlc.arg(market_id)::text AND user_id > coalesce(sqlc.narg(after_user)::uuid,
            '00000000-0000-0000-0000-000000000000')
        ORDER BY user_id LIMIT cardinality(sqlc.arg(ids)::uuid[]) / 2
    ) s
    -- By key, row by row: the length of a chunk is unknown when the statement is planned.
    LEFT JOIN LATERAL (
        SELECT signal_id, status, score, clv_bps, scoring_vertical, resolved_at, counted, reason, basis_bps
        FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT id, tier, odds_bps FROM moments WHERE signal_id = s.id AND r.counted LIMIT 1) o ON true
), chunk AS (
    SELECT id, user_id, created_at, yes, market_title, confidence, basis, price, price_verified, rated, status, score, clv_bps,
        lane, resolved_at,
        counted, reason, line, moment, tier, odds_bps, n, minted
    FROM batch WHERE ready
), tally AS (
    SELECT count(*) AS waiting, count(*) FILTER (WHERE ready) AS done,
        count(*) FILTER (WHERE ready) + count(moment) FILTER (WHERE ready) AS events,
        count(*) FILTER (WHERE ready) = count(*) AND count(*) < cardinality(sqlc.arg(ids)::uuid[]) / 2 AS ended
    FROM batch
), added AS (
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, data)
    SELECT sqlc.arg(head)::bigint + e.n, (sqlc.arg(ids)::uuid[])[e.n], e.type, c.resolved_at, sqlc.arg(market_id)::text,
        m.provider, c.lane, c.user_id, c.id, e.data
    FROM chunk c
    LEFT JOIN markets m ON m.market_id = sqlc.arg(market_id)::text
    LEFT JOIN LATERAL (SELECT handle FROM users WHERE id = c.user_id LIMIT 1) u ON true
    CROSS JOIN LATERAL (
        SELECT c.n + c.minted - (c.moment IS NOT NULL)::integer AS n, 'signal.resolved' AS type,
            jsonb_build_object('id', c.id, 'signalId', c.id, 'marketId', sqlc.arg(market_id)::text, 'marketTitle',
                c.market_title, 'handle', u.handle, 'status', c.status, 'score', c.score, 'clvBps', c.clv_bps,
                'scoreBasisBps', c.basis, 'priceVerified', c.price_verified, 'rated', c.rated, 'counted', c.counted, 'reason',
                    c.reason) AS data
        UNION ALL
        SELECT c.n + c.minted, 'moment.minted',
            jsonb_build_object('id', c.moment, 'tier', c.tier, 'handle', u.handle, 'signalId', c.id, 'marketId',
                sqlc.arg(market_id)::text, 'marketTitle', c.market_title,
                'direction', CASE WHEN c.yes THEN 'YES' ELSE 'NO' END, 'oddsBps', c.odds_bps, 'score', c.score,
                'mintedAt', to_char(c.resolved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        WHERE c.moment IS NOT NULL
    ) e
), scored AS (
    INSERT INTO operator_lane_scores AS o (user_id, lane, won, lost, void, score, price_sum, counted, counted_lines)
    SELECT user_id, lane, (status = 'won')::integer, (status = 'lost')::integer, (status = 'void')::integer,
        CASE WHEN counted THEN score ELSE 0 END, CASE WHEN line THEN price ELSE 0 END, counted::integer, line::integer
    FROM chunk
    ON CONFLICT (user_id, lane) DO UPDATE SET
        won = o.won + excluded.won, lost = o.lost + excluded.lost,
        void = o.void + excluded.void, score = o.score + excluded.score, price_sum = o.price_sum + excluded.price_sum,
        counted = o.counted + excluded.counted, counted_lines = o.counted_lines + excluded.counted_lines
), sampled AS (
    INSERT INTO operator_tallies AS t (user_id, lane, price_bps, confidence, calls, wins)
    SELECT user_id, lane, price, coalesce(confidence, 0), 1, (status = 'won')::integer
    FROM chunk WHERE line
    ON CONFLICT (user_id, lane, price_bps, confidence) DO UPDATE SET calls = t.calls + 1, wins = t.wins + excluded.wins
), closed AS (
    DELETE FROM open_signals WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM chunk c
        CROSS JOIN LATERAL (SELECT ctid FROM open_signals WHERE created_at = c.created_at AND signal_id = c.id LIMIT 1) o))
), head AS (
    UPDATE feed_head SET seq = sqlc.arg(head)::bigint + (SELECT events FROM tally) WHERE (SELECT events FROM tally) > 0
), moved AS (
    UPDATE feed_drains SET after_user = (SELECT user_id FROM chunk ORDER BY n DESC LIMIT 1)
    WHERE market_id = sqlc.arg(market_id)::text AND (SELECT done > 0 AND NOT ended FROM tally)
), removed AS (
    DELETE FROM feed_drains WHERE market_id = sqlc.arg(market_id)::text AND (SELECT ended FROM tally)
)
SELECT events, ended::boolean AS ended, (done < waiting)::boolean AS blocked FROM tally;

-- name: GetFeedHead :one
-- Returns the last number of the feed.
SELECT seq FROM feed_head;

-- name: GetFeedOldest :one
-- Returns the oldest number from which every event is stored. In an empty feed it is the next number.
SELECT greatest((SELECT f.seq + 1 FROM feed_floor AS f),
    coalesce((SELECT min(e.seq) FROM protocol_events AS e), (SELECT h.seq + 1 FROM feed_head AS h)))::bigint AS oldest;

-- name: MaintainFeed :one
-- Creates the partitions of the next days and drops those that are older than 90 days. Returns the number of dropped
-- partitions.
SELECT keep_feed()::integer AS dropped;

-- name: GetOperatorID :one
-- Returns the id of the operator who has a handle, or had it.
SELECT u.id FROM users AS u WHERE u.id = operator_of(@handle);

-- name: ListFeedAfter :many
-- Returns the events after a number. The numbers have no gaps, so the range of numbers limits the result.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.seq > sqlc.arg(after)::bigint AND e.seq <= sqlc.arg(after)::bigint + sqlc.arg(most)::bigint
ORDER BY e.seq;

-- name: ListFeedBrief :many
-- Returns the events of the types in a range of the feed, without what the database must search or convert for each event.
SELECT e.seq, e.type, e.at, e.market_id, e.user_id,
    coalesce(CASE WHEN e.type = 'signal.created' THEN '{"id":"' || e.signal_id || '"}' ELSE e.data::text END, '{}')::text AS data
FROM protocol_events AS e WHERE e.seq > @low AND e.seq <= @high AND e.type = ANY (@types::text[])
ORDER BY e.seq;

-- name: ListFeed :many
-- Returns a page of the feed (@low, @high], oldest first. Empty providers select all providers, an empty topic all
-- channels of segment events.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
    AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListFeedBackward :many
-- Like ListFeed, newest first.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
    AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
ORDER BY e.seq DESC LIMIT sqlc.arg('limit');

-- name: ListFeedOfOperator :many
-- Like ListFeed for the events of one operator. Empty types or an empty lane select all.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.user_id = @user_id::uuid AND (cardinality(@types::text[]) = 0 OR e.type = ANY (@types::text[]))
    AND (@lane::text = '' OR e.lane = @lane::text) AND e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
    AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListFeedOfOperatorBackward :many
-- Like ListFeedOfOperator, newest first.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.user_id = @user_id::uuid AND (cardinality(@types::text[]) = 0 OR e.type = ANY (@types::text[]))
    AND (@lane::text = '' OR e.lane = @lane::text) AND e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
    AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
ORDER BY e.seq DESC LIMIT sqlc.arg('limit');

-- name: ListFeedOfLane :many
-- Like ListFeed for one lane. Empty types select all.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.lane = @lane::text AND (cardinality(@types::text[]) = 0 OR e.type = ANY (@types::text[]))
    AND e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
    AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListFeedOfLaneBackward :many
-- Like ListFeedOfLane, newest first.
SELECT sqlc.embed(e), u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM shown_events AS e LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
WHERE e.lane = @lane::text AND (cardinality(@types::text[]) = 0 OR e.type = ANY (@types::text[]))
    AND e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
    AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
ORDER BY e.seq DESC LIMIT sqlc.arg('limit');

-- name: ListFeedOfTypes :many
-- Like ListFeed for the given types. The range of each type is read by its index, and the ranges are merged.
SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data,
    u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM unnest(@types::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data
        FROM shown_events AS e
    WHERE e.type = t.type AND e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
        AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
    ORDER BY e.seq LIMIT sqlc.arg('limit')
) AS e
LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
ORDER BY e.seq LIMIT sqlc.arg('limit');

-- name: ListFeedOfTypesBackward :many
-- Like ListFeedOfTypes, newest first.
SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data,
    u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM unnest(@types::text[]) AS t (type)
CROSS JOIN LATERAL (
    SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data
        FROM shown_events AS e
    WHERE e.type = t.type AND e.seq > @low AND e.seq <= @high
    AND (cardinality(@providers::text[]) = 0 OR e.provider = ANY (@providers::text[]))
        AND (@topic::text = '' OR e.topic IS NULL OR e.topic = @topic::text)
    ORDER BY e.seq DESC LIMIT sqlc.arg('limit')
) AS e
LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
ORDER BY e.seq DESC LIMIT sqlc.arg('limit');

-- name: ListFeedOfOperatorsBackward :many
-- Like ListFeedOfTypesBackward for the events of several operators. The range of each operator is read by its index.
SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data,
    u.handle::pg_catalog.text AS handle, u.public_id::pg_catalog.text AS public_id
FROM unnest(@user_ids::uuid[]) AS o (user_id)
CROSS JOIN LATERAL (
    SELECT e.seq, e.id, e.type, e.at, e.market_id, e.provider, e.lane, e.user_id, e.signal_id, e.topic, e.data
        FROM shown_events AS e
    WHERE e.user_id = o.user_id AND e.type = ANY (@types::text[]) AND e.seq <= @high
    ORDER BY e.seq DESC LIMIT sqlc.arg('limit')
) AS e
LEFT JOIN LATERAL (SELECT handle, public_id FROM users WHERE id = e.user_id LIMIT 1) AS u ON true
ORDER BY e.seq DESC LIMIT sqlc.arg('limit');
