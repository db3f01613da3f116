-- Whether each thing is hidden, in the given order. $1 kinds, $2 ids; of a profile the id of its operator.
SELECT is_hidden(t.kind, CASE
    WHEN t.kind = 'profile' THEN (SELECT u.handle FROM users u WHERE u.id = CASE WHEN t.kind = 'profile' THEN t.id::uuid END)
    ELSE t.id END)
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (kind, id, n)
ORDER BY t.n
