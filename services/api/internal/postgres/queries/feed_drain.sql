-- Numbers the next signal.resolved rows of the market $1 after the operator $2 and the
-- number $4, each followed by its moment.minted row, if there is one. $3 are ids, two for
-- each signal of a chunk. The chunk ends at the first signal without a result. The same step
-- moves the scores and tallies by lane and closes the signals, so each happens once for each
-- signal. Points are of counted calls; tallies are of those on venue markets.
WITH batch AS (
    SELECT s.id, s.user_id, s.created_at, s.yes, s.market_title, s.confidence, r.basis, within_price(r.basis) AS price,
        s.price_verified, s.rated, r.status, r.score, r.clv_bps, r.scoring_vertical AS lane, r.resolved_at, r.counted, r.reason,
        r.counted AND $1 NOT LIKE 'native-%' AS line,
        o.id AS moment, o.tier, o.odds_bps,
        row_number() OVER (ORDER BY s.user_id) AS n,
        count(o.id) OVER (ORDER BY s.user_id) AS minted, -- this one's with those before
        bool_and(r.signal_id IS NOT NULL) OVER (ORDER BY s.user_id) AS ready
    FROM (
        SELECT id, user_id, created_at, yes, market_title, confidence, score_basis_bps, price_verified, rated FROM signals
        WHERE market_id = $1 AND user_id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
        ORDER BY user_id LIMIT cardinality($3::uuid[]) / 2
    ) s
    -- By key, one by one: the length of a chunk is unknown when this is planned.
    LEFT JOIN LATERAL (
        SELECT signal_id, status, score, clv_bps, scoring_vertical, resolved_at, counted, reason, coalesce(basis_bps, s.score_basis_bps) AS basis
        FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT id, tier, odds_bps FROM moments WHERE signal_id = s.id AND r.counted LIMIT 1) o ON true
), chunk AS (
    SELECT id, user_id, created_at, yes, market_title, confidence, basis, price, price_verified, rated, status, score, clv_bps, lane, resolved_at,
        counted, reason, line, moment, tier, odds_bps, n, minted
    FROM batch WHERE ready
), tally AS (
    SELECT count(*) AS waiting, count(*) FILTER (WHERE ready) AS done,
        count(*) FILTER (WHERE ready) + count(moment) FILTER (WHERE ready) AS events,
        count(*) FILTER (WHERE ready) = count(*) AND count(*) < cardinality($3::uuid[]) / 2 AS ended
    FROM batch
), added AS (
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, data)
    SELECT $4 + e.n, ($3::uuid[])[e.n], e.type, c.resolved_at, $1, m.provider, c.lane, c.user_id, c.id, e.data
    FROM chunk c
    LEFT JOIN markets m ON m.market_id = $1
    LEFT JOIN LATERAL (SELECT handle FROM users WHERE id = c.user_id LIMIT 1) u ON true
    CROSS JOIN LATERAL (
        SELECT c.n + c.minted - (c.moment IS NOT NULL)::integer AS n, 'signal.resolved' AS type,
            jsonb_build_object('id', c.id, 'signalId', c.id, 'marketId', $1, 'marketTitle', c.market_title, 'handle', u.handle, 'status', c.status, 'score', c.score, 'clvBps', c.clv_bps,
                'scoreBasisBps', c.basis, 'priceVerified', c.price_verified, 'rated', c.rated, 'counted', c.counted, 'reason', c.reason) AS data
        UNION ALL
        SELECT c.n + c.minted, 'moment.minted',
            jsonb_build_object('id', c.moment, 'tier', c.tier, 'handle', u.handle, 'signalId', c.id, 'marketId', $1, 'marketTitle', c.market_title,
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
    UPDATE feed_head SET seq = $4 + (SELECT events FROM tally) WHERE (SELECT events FROM tally) > 0
), moved AS (
    UPDATE feed_drains SET after_user = (SELECT user_id FROM chunk ORDER BY n DESC LIMIT 1)
    WHERE market_id = $1 AND (SELECT done > 0 AND NOT ended FROM tally)
), removed AS (
    DELETE FROM feed_drains WHERE market_id = $1 AND (SELECT ended FROM tally)
)
SELECT events, ended, done < waiting FROM tally
