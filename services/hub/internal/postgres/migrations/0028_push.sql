-- Web push subscription of a session, as JSON of the browser. It ends with the session.
ALTER TABLE sessions ADD COLUMN push text CHECK (octet_length(push) BETWEEN 1 AND 4096);
CREATE INDEX sessions_push ON sessions (user_id) WHERE push IS NOT NULL;
CREATE INDEX sessions_of_push ON sessions USING hash (push) WHERE push IS NOT NULL;
GRANT UPDATE (push) ON sessions TO hub_rw;

-- Notifications that wait for web push, once for each subscription.
CREATE TABLE push_messages (
    user_id         uuid NOT NULL,
    issued_at       timestamptz NOT NULL, -- of the session
    notification_id uuid NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
    attempts        integer NOT NULL DEFAULT 0, -- failed
    due_at          timestamptz NOT NULL,
    PRIMARY KEY (user_id, issued_at, notification_id),
    FOREIGN KEY (user_id, issued_at) REFERENCES sessions (user_id, issued_at) ON DELETE CASCADE
);
CREATE INDEX push_messages_of_notification ON push_messages (notification_id);
CREATE INDEX push_messages_due ON push_messages (due_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON push_messages TO hub_rw;
