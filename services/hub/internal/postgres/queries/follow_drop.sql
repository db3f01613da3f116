DELETE FROM follows WHERE follower = $1 AND followed = $2
