SELECT data, at FROM channel_copies WHERE channel = $1
