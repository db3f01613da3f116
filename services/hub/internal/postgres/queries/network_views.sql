-- Starts of tapes: $1 origins and $2 ids, in their order.
SELECT coalesce(v.views, 0)
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS g (origin, tape_id, n)
LEFT JOIN tape_views v ON v.origin = g.origin AND v.tape_id = g.tape_id
ORDER BY g.n
