-- Id of the last notice of the ledger whose notifications exist.
CREATE TABLE notice_cursor (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  bigint NOT NULL
);
INSERT INTO notice_cursor (id) VALUES (0);
GRANT SELECT, UPDATE ON notice_cursor TO hub_rw;

-- The setting of milestones also applies to the confirmation of skill.
INSERT INTO notification_switches (user_id, kind, on_from)
SELECT user_id, 'skill_confirmed', on_from FROM notification_switches WHERE kind = 'milestone'
ON CONFLICT DO NOTHING;

ALTER TABLE notification_fanouts ADD COLUMN reason text NOT NULL DEFAULT ''; -- as in notifications
