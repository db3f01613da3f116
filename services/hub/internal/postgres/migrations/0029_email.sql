-- E-mail address of each user, encrypted. The address is deleted after repeated refusals of the mail server of the recipient; the row
-- then remains, so that the user can see it.
CREATE TABLE email_addresses (
    user_id      uuid PRIMARY KEY,
    address      text CHECK (octet_length(address) BETWEEN 1 AND 1024), -- encrypted; null: deleted after refusals
    confirmed_at timestamptz,
    token_hash   bytea UNIQUE CHECK (octet_length(token_hash) = 32), -- SHA-256 of the token that confirms the address once
    token_until  timestamptz,
    digest       text NOT NULL CHECK (digest IN ('off', 'daily', 'weekly')),
    digest_from  timestamptz NOT NULL, -- end of the last digest
    bounces      integer NOT NULL DEFAULT 0, -- consecutive refusals of the recipient
    bounced_at   timestamptz, -- when the address was deleted
    CHECK ((address IS NULL) = (bounced_at IS NOT NULL)),
    CHECK (address IS NOT NULL OR confirmed_at IS NULL),
    CHECK ((token_hash IS NULL) = (token_until IS NULL))
);
CREATE INDEX email_addresses_digest ON email_addresses (digest, digest_from) WHERE confirmed_at IS NOT NULL;

-- Letters that wait for the mail server.
CREATE TABLE email_messages (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES email_addresses (user_id) ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('confirmation', 'notice', 'digest')),
    notification_id uuid REFERENCES notifications (id) ON DELETE CASCADE, -- of a notice
    from_at         timestamptz, -- period of a digest
    until_at        timestamptz,
    attempts        integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    due_at          timestamptz NOT NULL,
    CHECK ((kind = 'notice') = (notification_id IS NOT NULL)),
    CHECK ((kind = 'digest') = (from_at IS NOT NULL AND until_at IS NOT NULL)),
    UNIQUE (user_id, until_at)
);
CREATE INDEX email_messages_of_notification ON email_messages (notification_id) WHERE notification_id IS NOT NULL;
CREATE INDEX email_messages_due ON email_messages (due_at);
CREATE INDEX email_messages_age ON email_messages (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON email_addresses, email_messages TO hub_rw;
