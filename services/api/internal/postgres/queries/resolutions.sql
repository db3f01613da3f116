-- name: LockMarket :execrows
-- Locks a market until the end of the transaction: no call is filed on it, and it is neither resolved nor disputed. The
-- next statement reads the clock and the newest call: under READ COMMITTED a statement that waits for a lock still sees
-- the calls of before the wait.
SELECT FROM markets WHERE market_id = @market_id FOR UPDATE;

-- name: GetLockedMarket :one
-- Returns the data that a claim or a dispute needs of a market that this transaction has locked.
-- effective_at is the time of the claim or dispute: @now, which was read after the lock was granted, but later than
-- every call on the market, because the clock of another process may be ahead.
-- close_at is the time at which the market closed for calls. It is the earliest of: the time at which the outcome was
-- public (@decided_at); for a native market the cutoff and the pending proposal; for a venue market whose newest answer
-- is not open, the first answer that was not open and the venue's end of trading, or without the latter the newest
-- answer that was open.
SELECT m.disputed, m.lane, least(n.at, sqlc.narg(decided_at)::timestamptz, CASE
    WHEN m.provider = 'manual' THEN
        least(m.end_date, CASE WHEN m.provisional_at > n.at - interval '7 days' THEN m.provisional_at END)
    WHEN m.status <> 'open' OR m.provisional THEN
        least(m.closed_at, m.provisional_at,
            CASE WHEN m.venue_closed_at <= n.at THEN m.venue_closed_at ELSE q.open_at END)
    END)::timestamptz AS close_at, n.at::timestamptz AS effective_at
FROM markets AS m
LEFT JOIN market_quotes AS q ON q.market_id = m.market_id
CROSS JOIN LATERAL (
    SELECT greatest(@now::timestamptz,
        (SELECT max(s.created_at) + interval '1 millisecond' FROM signals AS s WHERE s.market_id = @market_id)) AS at
) AS n
WHERE m.market_id = @market_id;

-- name: GetOutcome :one
-- Returns the resolution record of a market, or no row if it is neither resolved nor disputed.
SELECT r.outcome, r.resolver, r.source, r.proof_url, r.resolved_at, coalesce(d.disputed, false)::boolean AS disputed,
    (CASE WHEN d.disputed THEN d.reason END)::pg_catalog.text AS dispute_reason,
    (CASE WHEN d.disputed THEN d.disputed_at END)::pg_catalog.timestamptz AS disputed_at
FROM (SELECT @market_id::text AS market_id) AS k
LEFT JOIN market_resolutions AS r ON r.market_id = k.market_id
LEFT JOIN market_disputes AS d ON d.market_id = k.market_id
WHERE r.market_id IS NOT NULL OR d.disputed;

-- name: GetClosingLine :one
-- Returns the price of the last snapshot at or before the close.
SELECT yes_bps FROM market_prices WHERE market_id = @market_id AND at <= @close_at ORDER BY at DESC LIMIT 1;

-- name: ClaimResolution :execrows
-- Stores an outcome once. rated is the decision of an administrator, or else depends on the kind of the market.
-- @rated_creators are the creators on Manifold whose markets are rated ('*': all). @rated_volume is the smallest volume
-- in USD of rated markets of other venues.
INSERT INTO market_resolutions (market_id, outcome, resolver, source, proof_url, reason, finalized_by, payout,
    close_at, close_price, lane, resolved_at, decided_at, rated)
SELECT m.market_id, @outcome, @resolver, @source, @proof_url, @reason, @finalized_by, @payout,
    @close_at, @close_price, @lane, @resolved_at, @decided_at,
    coalesce(m.rated_ruling, CASE m.provider
        WHEN 'manual' THEN m.created_by = 'admin'
        WHEN 'manifold' THEN m.creator = ANY (@rated_creators::text[]) OR '*' = ANY (@rated_creators::text[])
        ELSE coalesce(q.volume_usd, 0) >= @rated_volume::double precision END, false)
FROM markets AS m LEFT JOIN market_quotes AS q ON q.market_id = m.market_id
WHERE m.market_id = @market_id
ON CONFLICT (market_id) DO NOTHING;

-- name: CountClaimedSignals :one
-- Counts the calls that a claim settles. It must run after LockMarket, because the snapshot of LockMarket may not
-- contain the last call.
SELECT (yes + no)::bigint AS total FROM market_totals WHERE market_id = @market_id;

-- name: SettleMarket :exec
-- Sets the final state of a market, deletes its proposal, and queues the event. @drain: its calls are scored in several
-- transactions.
WITH market AS (
    UPDATE markets AS m SET status = 'resolved', resolution_value = @outcome::text, provisional = false,
        closed_at = coalesce(m.closed_at, @at::timestamptz), updated_at = @at::timestamptz
    WHERE m.market_id = @market_id::text
), proposal AS (
    DELETE FROM resolution_proposals AS p WHERE p.market_id = @market_id::text
), queued AS (
    INSERT INTO outbox (type, market_id, at) VALUES ('market.resolved', @market_id::text, @at::timestamptz)
), waiting AS (
    INSERT INTO score_drains (market_id, created_at) SELECT @market_id::text, @at::timestamptz WHERE @drain::boolean
)
SELECT pg_notify('sc_outbox', '');

-- name: LockScores :exec
-- Serializes transactions that change operator scores. Two claims with the same operators could otherwise deadlock on
-- rows of operators.
SELECT pg_advisory_xact_lock(7201001);

-- name: LockDrain :one
-- Returns the operator after which the scoring of a claimed market continues, and whether a dispute stops it. The share
-- lock makes a dispute wait for a chunk in progress, and a chunk for a dispute.
SELECT d.after_user, m.disputed
FROM score_drains AS d JOIN markets AS m ON m.market_id = d.market_id
WHERE d.market_id = @market_id
FOR UPDATE OF d FOR SHARE OF m;

-- name: AdvanceDrain :exec
-- Stores the operator after which scoring continues.
UPDATE score_drains SET after_user = @after_user WHERE market_id = @market_id;

-- name: DeleteDrain :exec
-- Ends the scoring of a market.
DELETE FROM score_drains WHERE market_id = @market_id;

-- name: ListDrains :many
-- Returns claimed markets that are not completely scored and not disputed.
SELECT d.market_id FROM score_drains AS d JOIN markets AS m ON m.market_id = d.market_id
WHERE NOT m.disputed ORDER BY d.created_at LIMIT 100;

-- name: SetDispute :exec
-- Marks a market as disputed or clears the mark, with its history. A repetition preserves the first time, and
-- replaces the reason if it states one. Clearing the mark deletes the proposal of a native market.
WITH before AS (
    SELECT k.disputed FROM markets AS k WHERE k.market_id = @market_id::text
), flag AS (
    INSERT INTO market_disputes AS d (market_id, disputed, reason, disputed_at)
    VALUES (@market_id::text, @disputed::boolean, CASE WHEN @disputed::boolean THEN sqlc.narg(reason)::text END,
        CASE WHEN @disputed::boolean THEN @at::timestamptz END)
    ON CONFLICT (market_id) DO UPDATE SET
        disputed = excluded.disputed,
        reason = CASE WHEN excluded.disputed AND d.disputed THEN coalesce(excluded.reason, d.reason) ELSE excluded.reason END,
        disputed_at = CASE WHEN excluded.disputed AND d.disputed THEN d.disputed_at ELSE excluded.disputed_at END
), market AS (
    UPDATE markets AS m SET disputed = @disputed::boolean, updated_at = @at::timestamptz,
        provisional = m.provisional AND (m.provider <> 'manual' OR @disputed::boolean),
        provisional_at = CASE WHEN m.provider <> 'manual' OR @disputed::boolean THEN m.provisional_at END
    WHERE m.market_id = @market_id::text
), proposal AS (
    DELETE FROM resolution_proposals AS p WHERE p.market_id = @market_id::text AND NOT @disputed::boolean
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    VALUES (@at::timestamptz, 'admin', CASE WHEN @disputed::boolean THEN 'market.disputed' ELSE 'market.dispute_cleared' END,
        @market_id::text,
        jsonb_build_object('reason', sqlc.narg(reason)::text))
), queued AS (
    -- The reason at this time: a later reason must not appear in an earlier event.
    INSERT INTO outbox (type, market_id, data, at)
    SELECT CASE WHEN @disputed::boolean THEN 'market.disputed' ELSE 'market.dispute_cleared' END, @market_id::text,
        CASE WHEN @disputed::boolean THEN jsonb_build_object('disputeReason', sqlc.narg(reason)::text) END, @at::timestamptz
    FROM before AS b WHERE b.disputed <> @disputed::boolean
)
SELECT pg_notify('sc_outbox', '');

-- name: LockMarketForProposal :one
-- Returns the data on which a proposal depends and locks the market.
SELECT provider, status, disputed, coalesce(created_by, '')::text AS creator FROM markets WHERE market_id = @market_id FOR UPDATE;

-- name: StoreProposal :exec
-- Stores a proposed outcome. A newer proposal replaces the older one and its time. No call is filed between the two, so
-- the closing price is the same.
WITH proposal AS (
    INSERT INTO resolution_proposals (market_id, verdict, proof_url, reason, proposed_by, proposed_at)
    VALUES (@market_id, @verdict, @proof_url, @reason, @proposed_by, @now::timestamptz)
    ON CONFLICT (market_id) DO UPDATE SET verdict = excluded.verdict, proof_url = excluded.proof_url,
        reason = excluded.reason, proposed_by = excluded.proposed_by, proposed_at = excluded.proposed_at
)
UPDATE markets SET provisional = true, provisional_at = @now::timestamptz, updated_at = @now::timestamptz
    WHERE markets.market_id = @market_id;

-- name: DeleteExpiredProposals :one
-- Deletes at most 500 proposals from before @before that have no decision, and returns their number. Markets are locked
-- first, as by all statements.
WITH due AS (
    SELECT m.market_id FROM markets AS m JOIN resolution_proposals AS p ON p.market_id = m.market_id
    WHERE p.proposed_at <= @before::timestamptz ORDER BY m.market_id LIMIT 500
    FOR UPDATE OF m SKIP LOCKED
), lapsed AS (
    DELETE FROM resolution_proposals AS p USING due AS d WHERE p.market_id = d.market_id AND p.proposed_at <= @before::timestamptz
    RETURNING p.market_id
), reopened AS (
    UPDATE markets AS m SET provisional = false, provisional_at = NULL, updated_at = @now::timestamptz
    FROM lapsed AS l WHERE m.market_id = l.market_id AND m.status <> 'resolved'
)
SELECT count(*) FROM lapsed;

-- name: ListDisputedMarkets :many
-- Returns disputed markets, the newest dispute first.
SELECT market_id FROM market_disputes WHERE disputed ORDER BY disputed_at DESC NULLS LAST, market_id LIMIT sqlc.arg('limit');
