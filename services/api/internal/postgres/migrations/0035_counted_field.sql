---- tern: disable-tx ----
-- The ranked field in its order. Created in a transaction of its own, without a lock that
-- blocks readers.
CREATE INDEX IF NOT EXISTS board_rows_field ON board_rows (tier, score DESC, resolved DESC, accuracy DESC, handle) WHERE lane = '' AND counted > 0;
