SELECT keep_feed($1::date, $2)
