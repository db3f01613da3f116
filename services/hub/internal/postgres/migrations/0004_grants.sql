-- Delegated sign-in. Of every secret only the SHA-256 is here. User ids are the
-- ledger's. The checks of a token read its grant and its app each time, so one
-- row ends them all.
CREATE TABLE apps (
    id                uuid PRIMARY KEY, -- v7, also the client id
    owner_id          uuid NOT NULL,
    kind              text NOT NULL CHECK (kind IN ('public', 'confidential')),
    name              text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
    redirect_uris     text[] NOT NULL CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
    scopes            text[] NOT NULL CHECK (cardinality(scopes) > 0),
    homepage          text NOT NULL, -- may be empty
    logo_url          text NOT NULL, -- may be empty
    allowed_resources text[] NOT NULL, -- empty: every one
    secret_hash       bytea CHECK (octet_length(secret_hash) = 32),
    old_secret_hash   bytea CHECK (octet_length(old_secret_hash) = 32),
    old_secret_until  timestamptz,
    created_at        timestamptz NOT NULL,
    disabled_at       timestamptz, -- final
    CHECK ((kind = 'confidential') = (secret_hash IS NOT NULL)),
    CHECK ((old_secret_hash IS NULL) = (old_secret_until IS NULL))
);
CREATE INDEX apps_of_owner ON apps (owner_id, created_at DESC, id DESC);

-- Consent pages that wait for a decision, which deletes them.
CREATE TABLE auth_requests (
    hash         bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    session_hash bytea NOT NULL CHECK (octet_length(session_hash) = 32),
    user_id      uuid NOT NULL,
    app_id       uuid NOT NULL REFERENCES apps,
    redirect_uri text NOT NULL,
    scopes       text[] NOT NULL CHECK (cardinality(scopes) > 0),
    state        bytea NOT NULL, -- any bytes, may be empty
    challenge    text NOT NULL,
    resource     text NOT NULL, -- may be empty
    renew        boolean NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX auth_requests_expiry ON auth_requests (expires_at);

CREATE TABLE grants (
    id           uuid PRIMARY KEY, -- v7
    user_id      uuid NOT NULL,
    app_id       uuid NOT NULL REFERENCES apps,
    scopes       text[] NOT NULL CHECK (cardinality(scopes) > 0),
    resource     text NOT NULL, -- may be empty
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    last_used_at timestamptz, -- exact to a minute
    revoked_at   timestamptz, -- final
    revoked_by   text CHECK (revoked_by IN ('user', 'app', 'owner', 'code_replay', 'refresh_reuse', 'app_disabled')),
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE INDEX grants_of_user ON grants (user_id, created_at DESC, id DESC);
CREATE INDEX grants_of_app ON grants (app_id) WHERE revoked_at IS NULL;

CREATE TABLE auth_codes (
    hash         bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    app_id       uuid NOT NULL REFERENCES apps,
    user_id      uuid NOT NULL,
    redirect_uri text NOT NULL,
    scopes       text[] NOT NULL CHECK (cardinality(scopes) > 0),
    challenge    text NOT NULL,
    resource     text NOT NULL, -- may be empty
    grant_id     uuid REFERENCES grants, -- the grant it renews, or came to
    consented    boolean NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    used_at      timestamptz,
    redeemed     boolean NOT NULL DEFAULT false,
    CHECK (NOT redeemed OR used_at IS NOT NULL AND grant_id IS NOT NULL)
);
CREATE INDEX auth_codes_expiry ON auth_codes (expires_at);

CREATE TABLE access_tokens (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    grant_id   uuid NOT NULL REFERENCES grants,
    scopes     text[] NOT NULL CHECK (cardinality(scopes) > 0),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX access_tokens_expiry ON access_tokens (expires_at);

-- A used token names the one that followed it.
CREATE TABLE refresh_tokens (
    hash           bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    grant_id       uuid NOT NULL REFERENCES grants,
    scopes         text[] NOT NULL CHECK (cardinality(scopes) > 0),
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    used_at        timestamptz,
    successor_hash bytea CHECK (octet_length(successor_hash) = 32),
    CHECK ((used_at IS NULL) = (successor_hash IS NULL))
);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

-- Apps and grants are never deleted: they say who let whom do what.
GRANT SELECT, INSERT, UPDATE ON apps, grants TO hub_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON auth_requests, auth_codes, access_tokens, refresh_tokens TO hub_rw;

-- A signer is not registered past the end of its grant: the registration holds the
-- grant, so that a revocation comes before and is seen here, or after and finds the
-- signer. Asked again, the caller is told that the token is not good any more.
CREATE FUNCTION signer_grant() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    ended timestamptz;
BEGIN
    SELECT revoked_at INTO ended FROM grants WHERE id = NEW.grant_id FOR SHARE;
    IF ended IS NOT NULL THEN
        RAISE EXCEPTION 'the grant of the signer has ended' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER signers_grant BEFORE INSERT ON signers
    FOR EACH ROW WHEN (NEW.grant_id IS NOT NULL) EXECUTE FUNCTION signer_grant();
