SELECT followers, following FROM follow_totals WHERE user_id = $1
