SELECT subject FROM message_effects WHERE message_id = $1
