-- Numbers the next signal.resolved rows of the market $1 behind the operator $2
-- and the number $4, with the ids $3. The chunk ends at the first signal without
-- a result. In the same step the scores by lane move and the signals stop being
-- open, so each happens once for each signal.
WITH batch AS (
    SELECT s.id, s.user_id, s.created_at, r.status, r.score, r.clv_bps, r.scoring_vertical AS lane, r.resolved_at,
        row_number() OVER (ORDER BY s.user_id) AS n,
        bool_and(r.signal_id IS NOT NULL) OVER (ORDER BY s.user_id) AS ready
    FROM (
        SELECT id, user_id, created_at FROM signals
        WHERE market_id = $1 AND ($2::uuid IS NULL OR user_id > $2)
        ORDER BY user_id LIMIT cardinality($3::uuid[])
    ) s
    LEFT JOIN signal_results r ON r.signal_id = s.id
), chunk AS (
    SELECT id, user_id, created_at, status, score, clv_bps, lane, resolved_at, n FROM batch WHERE ready
), tally AS (
    SELECT count(*) AS waiting, count(*) FILTER (WHERE ready) AS done,
        count(*) FILTER (WHERE ready) = count(*) AND count(*) < cardinality($3::uuid[]) AS ended
    FROM batch
), added AS (
    INSERT INTO protocol_events (seq, id, type, at, market_id, provider, lane, user_id, signal_id, data)
    SELECT $4 + c.n, ($3::uuid[])[c.n], 'signal.resolved', c.resolved_at, $1, m.provider, c.lane, c.user_id, c.id,
        jsonb_build_object('signalId', c.id, 'marketId', $1, 'handle', u.handle, 'status', c.status, 'score', c.score, 'clvBps', c.clv_bps)
    FROM chunk c
    LEFT JOIN markets m ON m.market_id = $1
    LEFT JOIN users u ON u.id = c.user_id
), scored AS (
    INSERT INTO operator_lane_scores AS o (user_id, lane, won, lost, void, score)
    SELECT user_id, lane, (status = 'won')::integer, (status = 'lost')::integer, (status = 'void')::integer, score
    FROM chunk
    ON CONFLICT (user_id, lane) DO UPDATE SET
        won = o.won + excluded.won, lost = o.lost + excluded.lost,
        void = o.void + excluded.void, score = o.score + excluded.score
), closed AS (
    DELETE FROM open_signals o USING chunk c WHERE o.created_at = c.created_at AND o.signal_id = c.id
), head AS (
    UPDATE feed_head SET seq = $4 + (SELECT done FROM tally) WHERE (SELECT done FROM tally) > 0
), moved AS (
    UPDATE feed_drains SET after_user = (SELECT user_id FROM chunk ORDER BY n DESC LIMIT 1)
    WHERE market_id = $1 AND (SELECT done > 0 AND NOT ended FROM tally)
), removed AS (
    DELETE FROM feed_drains WHERE market_id = $1 AND (SELECT ended FROM tally)
)
SELECT done, ended, done < waiting FROM tally
