-- Whoever gives numbers holds this row to the end of its transaction, so that
-- two sequencers can overlap for a moment and still count as one.
SELECT seq FROM feed_head FOR UPDATE
