SELECT data FROM channel_copies WHERE channel = $1
