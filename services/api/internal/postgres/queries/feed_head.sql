SELECT seq FROM feed_head
