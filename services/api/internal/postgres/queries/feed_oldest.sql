-- The oldest event that is kept; with none, the one that will come next.
SELECT coalesce((SELECT min(seq) FROM protocol_events), (SELECT seq + 1 FROM feed_head))
