-- The search for operators by the beginning of the handle or of the display name. The operator class compares characters, so that
-- a prefix is a range.
CREATE INDEX users_by_handle_prefix ON users (handle text_pattern_ops);
CREATE INDEX users_by_name_prefix ON users (lower(display_name) text_pattern_ops);
