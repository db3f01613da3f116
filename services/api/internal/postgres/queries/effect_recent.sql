-- The newest of a kind since $3, at most $4 of them: how many, and when the oldest was.
SELECT count(*), min(at) FROM (
    SELECT at FROM message_effects WHERE user_id = $1 AND type = $2 AND at > $3 ORDER BY at DESC LIMIT $4) recent
