-- Notifications of users. Facts of one group, such as the calls of one forecaster on one day, are one row: subject identifies the
-- group, and count is the number of its facts. The other columns describe the newest fact.
CREATE TABLE notifications (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL,
    kind       text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 40),
    subject    text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 200),
    actor      uuid,
    handle     text NOT NULL, -- of the actor, at the time of the fact; empty: none
    market_id  text NOT NULL, -- empty: none
    signal_id  uuid,
    status     text NOT NULL, -- result of the call; empty: none
    score      integer,
    reason     text NOT NULL, -- why the call is void; empty: none
    count      bigint NOT NULL CHECK (count > 0),
    seq        bigint NOT NULL, -- number of the event in the feed; of a fact of the hub: the last number that was read
    created_at timestamptz NOT NULL,
    read_at    timestamptz,
    UNIQUE (user_id, kind, subject)
);
CREATE INDEX notifications_of_user ON notifications (user_id, seq DESC, id DESC);
CREATE INDEX notifications_unread ON notifications (user_id) WHERE read_at IS NULL;
CREATE INDEX notifications_age ON notifications (created_at);

-- Changes of what a user is notified of. A kind without a row has its default. A kind is on for facts from on_from on; null: off.
CREATE TABLE notification_switches (
    user_id uuid NOT NULL,
    kind    text NOT NULL,
    on_from timestamptz,
    PRIMARY KEY (user_id, kind)
);

-- Largest milestone of each user, so that a milestone is reached once.
CREATE TABLE milestones (
    user_id uuid PRIMARY KEY,
    calls   bigint NOT NULL
);

-- Number of the last event whose notifications exist, or wait in notification_fanouts.
CREATE TABLE notification_cursor (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    seq bigint NOT NULL
);

-- Facts whose recipients are notified in batches. The users up to after_user are notified.
CREATE TABLE notification_fanouts (
    seq        bigint NOT NULL,
    kind       text NOT NULL,
    audience   text NOT NULL CHECK (audience IN ('followers', 'callers', 'watchers')),
    actor      uuid,
    handle     text NOT NULL,
    market_id  text NOT NULL,
    signal_id  uuid,
    at         timestamptz NOT NULL,
    after_user uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    batches    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (seq, kind, audience)
);
CREATE INDEX notification_fanouts_due ON notification_fanouts (batches, seq);

GRANT SELECT, INSERT, UPDATE, DELETE ON notifications, notification_switches, notification_fanouts TO hub_rw;
GRANT SELECT, INSERT, UPDATE ON milestones, notification_cursor TO hub_rw;
