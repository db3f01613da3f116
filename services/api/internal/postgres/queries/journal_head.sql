SELECT size, edge, feed_seq, filling, note FROM journal_checkpoints ORDER BY id DESC LIMIT 1
