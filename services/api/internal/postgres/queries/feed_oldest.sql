-- The oldest number from which on every event is kept; with none, the one that will
-- come next.
SELECT greatest((SELECT seq + 1 FROM feed_floor),
    coalesce((SELECT min(seq) FROM protocol_events), (SELECT seq + 1 FROM feed_head)))
