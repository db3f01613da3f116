-- name: GetCheckpoint :one
-- Returns the newest checkpoint.
SELECT size, edge, feed_seq, filling, note FROM journal_checkpoints ORDER BY id DESC LIMIT 1;

-- name: ListCheckpoints :many
-- Returns the newest checkpoints, newest first.
SELECT size, edge, feed_seq, filling, note FROM journal_checkpoints ORDER BY id DESC LIMIT 1000;

-- name: AppendLeaves :exec
-- Appends leaves after the number @after, and the checkpoint of the extended log.
WITH leaves AS (
    INSERT INTO journal_leaves (n, kind, of, hash)
    SELECT sqlc.arg(after)::bigint + t.i - 1, t.kind, t.of, t.hash
    FROM unnest(@kinds::smallint[], @of::text[], @hashes::bytea[]) WITH ORDINALITY AS t (kind, of, hash, i)
)
INSERT INTO journal_checkpoints (size, edge, feed_seq, filling, note, at)
VALUES (sqlc.arg(after)::bigint + cardinality(@kinds::smallint[]), @edge, @feed_seq, @filling, @note, @at);

-- name: ListNewLeaves :many
-- Returns the rows without a leaf to which the next @most events of the feed after a number refer. The last row has the
-- number of the last event read, and no leaf.
WITH news AS MATERIALIZED (
    SELECT e.seq, e.market_id AS mid, (CASE e.type WHEN 'signal.created' THEN 1 WHEN 'signal.resolved'
        THEN 2 WHEN 'signal.event' THEN 3
            WHEN 'market.resolved' THEN 4 END)::smallint AS kind,
        CASE e.type WHEN 'signal.event' THEN (e.data #>> '{event,id}')::uuid ELSE e.signal_id END AS uid
    FROM protocol_events AS e WHERE e.seq > @after ORDER BY e.seq LIMIT @most
)
SELECT n.seq::int8 AS seq, n.kind::int2 AS kind, coalesce(r.uid::text, r.mid)::pg_catalog.text AS of,
    sha256('\x00'::bytea || convert_to(r.body, 'UTF8'))::bytea AS hash
FROM news AS n CROSS JOIN LATERAL (
    SELECT x.uid, x.mid, x.body FROM journal_rows AS x WHERE n.kind = 4 AND x.kind = 4 AND x.mid = n.mid
    UNION ALL
    SELECT x.uid, x.mid, x.body FROM journal_rows AS x WHERE n.kind < 4 AND x.kind = n.kind AND x.uid = n.uid
) AS r
-- By key, because the journal is long and the new events are few.
LEFT JOIN LATERAL (
    SELECT true AS sealed FROM journal_leaves AS j WHERE j.kind = n.kind AND j.of = coalesce(r.uid::text, r.mid) LIMIT 1) AS l
        ON true
WHERE l.sealed IS NULL
UNION ALL
SELECT max(n.seq), NULL, NULL, NULL FROM news AS n
ORDER BY 1, 2 NULLS LAST;

-- name: ListOldLeaves :many
-- Returns rows of a kind (calls, results, events) after a key (null: from the first), with the hash of each row that
-- has no leaf.
SELECT r.uid::text AS of, (CASE WHEN l.sealed IS NULL THEN sha256('\x00'::bytea || convert_to(r.body, 'UTF8')) END)::bytea AS hash
FROM (
    SELECT x.kind, x.uid, x.body FROM journal_rows AS x
    WHERE x.kind = @kind::smallint AND x.kind < 4 AND (sqlc.narg(after)::text IS NULL OR x.uid > sqlc.narg(after)::text::uuid)
    ORDER BY x.uid LIMIT sqlc.arg('limit')
) AS r
LEFT JOIN LATERAL (SELECT true AS sealed FROM journal_leaves AS j WHERE j.kind = r.kind AND j.of = r.uid::text LIMIT 1) AS l
    ON true
ORDER BY r.uid;

-- name: ListOldResolutionLeaves :many
-- Like ListOldLeaves for resolutions, whose key is the market.
SELECT r.mid::text AS of, (CASE WHEN l.sealed IS NULL THEN sha256('\x00'::bytea || convert_to(r.body, 'UTF8')) END)::bytea AS hash
FROM (
    SELECT x.kind, x.mid, x.body FROM journal_rows AS x
    WHERE x.kind = 4 AND (sqlc.narg(after)::text IS NULL OR x.mid > sqlc.narg(after)::text)
    ORDER BY x.mid LIMIT sqlc.arg('limit')
) AS r
LEFT JOIN LATERAL (SELECT true AS sealed FROM journal_leaves AS j WHERE j.kind = r.kind AND j.of = r.mid LIMIT 1) AS l ON true
ORDER BY r.mid;

-- name: ListUnsealedRows :many
-- Returns the first thousand rows that have no leaf and to which no pending work refers: neither the outbox, nor the
-- feed after the number @after, nor a drain in progress.
SELECT r.kind::smallint AS kind, coalesce(r.uid::text, r.mid)::text AS of
FROM (SELECT x.kind, x.uid, x.mid FROM journal_rows AS x) AS r
LEFT JOIN signals AS s ON r.kind IN (1, 2) AND s.id = r.uid
WHERE NOT EXISTS (SELECT FROM journal_leaves AS l WHERE l.kind = r.kind AND l.of = coalesce(r.uid::text, r.mid))
    AND NOT EXISTS (SELECT FROM outbox AS o WHERE
        r.kind = 1 AND o.type = 'signal.created' AND o.signal_id = r.uid
        OR r.kind = 3 AND o.type = 'signal.event' AND o.event_id = r.uid
        OR r.kind = 4 AND o.type = 'market.resolved' AND o.market_id = r.mid
        OR r.kind = 2 AND o.type = 'market.resolved' AND o.market_id = s.market_id)
    AND NOT EXISTS (SELECT FROM feed_drains AS d WHERE r.kind = 2 AND d.market_id = s.market_id)
    AND NOT EXISTS (SELECT FROM protocol_events AS p WHERE p.seq > @after AND (
        r.kind = 1 AND p.type = 'signal.created' AND p.signal_id = r.uid
        OR r.kind = 2 AND p.type = 'signal.resolved' AND p.signal_id = r.uid
        OR r.kind = 3 AND p.type = 'signal.event' AND p.data #>> '{event,id}' = r.uid::text
        OR r.kind = 4 AND p.type = 'market.resolved' AND p.market_id = r.mid))
ORDER BY 1, 2
LIMIT 1000;
