-- Appends the leaves ($2 kinds, $3 keys, $4 hashes) behind $1 and the checkpoint on them.
WITH leaves AS (
    INSERT INTO journal_leaves (n, kind, of, hash)
    SELECT $1::bigint + t.i - 1, t.kind, t.of, t.hash
    FROM unnest($2::smallint[], $3::text[], $4::bytea[]) WITH ORDINALITY AS t (kind, of, hash, i)
)
INSERT INTO journal_checkpoints (size, edge, feed_seq, filling, note, at)
VALUES ($1::bigint + cardinality($2::smallint[]), $5, $6, $7, $8, $9)
