-- Handle under which the notification of new followers counts a follow. Empty: no notification counts it.
ALTER TABLE follows ADD COLUMN noticed_as text NOT NULL DEFAULT '' CHECK (char_length(noticed_as) <= 64);

-- Follows that ended after the followed user had seen them. For 90 days, a repeated follow causes no notification.
CREATE TABLE seen_follows (
    followed uuid NOT NULL,
    follower uuid NOT NULL,
    seen_at  timestamptz NOT NULL,
    PRIMARY KEY (followed, follower)
);
CREATE INDEX seen_follows_age ON seen_follows (seen_at);
GRANT SELECT, INSERT, DELETE ON seen_follows TO hub_rw;
