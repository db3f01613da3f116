-- $1 viewer or null, $2 followed.
SELECT
    coalesce((SELECT followers FROM follow_totals WHERE user_id = $2), 0),
    coalesce((SELECT following FROM follow_totals WHERE user_id = $1), 0),
    EXISTS (SELECT FROM follows WHERE follower = $1 AND followed = $2)
