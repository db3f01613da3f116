SELECT user_id, followers FROM follow_totals WHERE user_id = ANY ($1::uuid[]) AND followers > 0
