-- The browser of each session, and its last use. The address is a prefix: /24 of IPv4, /48 of IPv6.
ALTER TABLE sessions
    ADD COLUMN used_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN browser text NOT NULL DEFAULT '' CHECK (char_length(browser) <= 64),
    ADD COLUMN address text NOT NULL DEFAULT '' CHECK (char_length(address) <= 64);
CREATE INDEX sessions_use ON sessions (used_at);
DROP INDEX sessions_age;
GRANT UPDATE (used_at) ON sessions TO hub_rw;

-- Browsers and address prefixes from which an operator signed in. A pair without use for 90 days is deleted.
CREATE TABLE devices (
    user_id uuid NOT NULL,
    browser text NOT NULL,
    address text NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, browser, address)
);
CREATE INDEX devices_use ON devices (used_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON devices TO hub_rw;
