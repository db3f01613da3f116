SELECT count(*) FROM webhooks WHERE user_id = $1
