-- What happened around the sessions of an operator. $1 handle, $2 its id, $3 from, $4 to.
SELECT
    (SELECT count(*) FROM clips WHERE handle = $1 AND status = 'ready' AND created_at BETWEEN $3 AND $4),
    (SELECT coalesce(sum(views), 0)::bigint FROM clips WHERE handle = $1 AND status = 'ready' AND created_at BETWEEN $3 AND $4),
    (SELECT count(*) FROM follows WHERE followed = $2 AND created_at BETWEEN $3 AND $4)
