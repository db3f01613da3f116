-- Address that replaces the confirmed one when the link of its letter is opened. Until then letters go to the confirmed address.
ALTER TABLE email_addresses
    ADD COLUMN pending text CHECK (octet_length(pending) BETWEEN 1 AND 1024), -- encrypted
    ADD COLUMN pending_until timestamptz, -- when the pending address is deleted
    ADD CONSTRAINT email_addresses_pending CHECK ((pending IS NULL) = (pending_until IS NULL)) NOT VALID;
CREATE INDEX email_addresses_pending_until ON email_addresses (pending_until) WHERE pending_until IS NOT NULL;

-- Letter to a confirmed address that was replaced.
ALTER TABLE email_messages
    ADD COLUMN address text CHECK (octet_length(address) BETWEEN 1 AND 1024), -- encrypted, of a letter to a replaced address
    DROP CONSTRAINT email_messages_kind_check,
    ADD CONSTRAINT email_messages_kind_check CHECK (kind IN ('confirmation', 'notice', 'digest', 'replaced')) NOT VALID,
    ADD CONSTRAINT email_messages_replaced CHECK ((kind = 'replaced') = (address IS NOT NULL)) NOT VALID;
