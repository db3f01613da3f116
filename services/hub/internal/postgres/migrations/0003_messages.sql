-- Keys that sign messages for passports. A key is unique for ever: rows are
-- never removed, and a revoked one never comes back.
CREATE TABLE signers (
    public_key text PRIMARY KEY CHECK (public_key ~ '^[0-9a-f]{64}$'),
    denpa_id   uuid NOT NULL,
    app_id     text CHECK (char_length(app_id) BETWEEN 1 AND 64), -- null: the passport's own
    grant_id   uuid,
    scopes     text[] NOT NULL CHECK (cardinality(scopes) > 0),
    label      text NOT NULL CHECK (char_length(label) <= 64), -- may be empty
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    revoked_by text CHECK (revoked_by IN ('user', 'app', 'grant')),
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
    CHECK (grant_id IS NULL OR app_id IS NOT NULL)
);
CREATE INDEX signers_of_passport ON signers (denpa_id, created_at DESC);
CREATE INDEX signers_of_grant ON signers (grant_id) WHERE grant_id IS NOT NULL AND revoked_at IS NULL;

CREATE FUNCTION signer_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL
        OR (NEW.public_key, NEW.denpa_id, NEW.app_id, NEW.grant_id, NEW.scopes, NEW.label, NEW.created_at, NEW.expires_at)
        IS DISTINCT FROM
        (OLD.public_key, OLD.denpa_id, OLD.app_id, OLD.grant_id, OLD.scopes, OLD.label, OLD.created_at, OLD.expires_at) THEN
        RAISE EXCEPTION 'a signer is only revoked, once' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER signers_moves BEFORE UPDATE ON signers FOR EACH ROW EXECUTE FUNCTION signer_moves();
CREATE TRIGGER signers_rows BEFORE DELETE ON signers FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER signers_truncate BEFORE TRUNCATE ON signers FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE signers ENABLE ALWAYS TRIGGER signers_moves;
ALTER TABLE signers ENABLE ALWAYS TRIGGER signers_rows;
ALTER TABLE signers ENABLE ALWAYS TRIGGER signers_truncate;

-- Challenges for new signers: hashes only, used once. Old ones go when their
-- passport asks for another.
CREATE TABLE signer_challenges (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    public_key text NOT NULL,
    denpa_id   uuid NOT NULL,
    app_id     text,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
CREATE INDEX signer_challenges_old ON signer_challenges (denpa_id, expires_at);

-- Signed messages. A pending one is accepted once or removed; an accepted one
-- never changes and never goes, whoever asks.
CREATE TABLE messages (
    id          text PRIMARY KEY CHECK (id ~ '^msg_[0-9a-f]{64}$'),
    type        text NOT NULL,
    denpa_id    uuid NOT NULL,
    app_id      text,
    public_key  text NOT NULL CHECK (public_key ~ '^[0-9a-f]{64}$'),
    nonce       text NOT NULL CHECK (char_length(nonce) BETWEEN 16 AND 64),
    body        text NOT NULL CHECK (octet_length(body) <= 65536), -- canonical JSON, as it was signed
    attested    boolean NOT NULL, -- by the hub itself
    subject     text UNIQUE,      -- what an attested message is about
    status      text NOT NULL CHECK (status IN ('pending', 'accepted')),
    attempt     uuid NOT NULL,    -- of the request that took it
    received_at timestamptz NOT NULL,
    tried_at    timestamptz NOT NULL,
    accepted_at timestamptz,
    result      text,             -- JSON
    CONSTRAINT messages_nonce UNIQUE (public_key, nonce),
    CHECK ((status = 'accepted') = (accepted_at IS NOT NULL)),
    CHECK (NOT attested OR status = 'accepted')
);
CREATE INDEX messages_new ON messages (received_at DESC, id DESC) WHERE status = 'accepted';
CREATE INDEX messages_of_passport ON messages (denpa_id, received_at DESC, id DESC) WHERE status = 'accepted';
CREATE INDEX messages_of_key ON messages (public_key, received_at DESC);
CREATE INDEX messages_unsettled ON messages (tried_at) WHERE status = 'pending';

CREATE FUNCTION message_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'pending' THEN
        RAISE EXCEPTION 'an accepted message stays as it is' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF (NEW.id, NEW.type, NEW.denpa_id, NEW.app_id, NEW.public_key, NEW.nonce, NEW.body, NEW.attested, NEW.subject, NEW.attempt, NEW.received_at)
        IS DISTINCT FROM
        (OLD.id, OLD.type, OLD.denpa_id, OLD.app_id, OLD.public_key, OLD.nonce, OLD.body, OLD.attested, OLD.subject, OLD.attempt, OLD.received_at) THEN
        RAISE EXCEPTION 'what was signed stays as it is' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER messages_moves BEFORE UPDATE OR DELETE ON messages FOR EACH ROW EXECUTE FUNCTION message_moves();
CREATE TRIGGER messages_truncate BEFORE TRUNCATE ON messages FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE messages ENABLE ALWAYS TRIGGER messages_moves;
ALTER TABLE messages ENABLE ALWAYS TRIGGER messages_truncate;

GRANT SELECT, INSERT, UPDATE (revoked_at, revoked_by) ON signers TO hub_rw;
GRANT SELECT, INSERT, UPDATE (used_at), DELETE ON signer_challenges TO hub_rw;
GRANT SELECT, INSERT, UPDATE (status, tried_at, accepted_at, result), DELETE ON messages TO hub_rw;
