-- Operators and their keys.
CREATE TABLE users (
    id              uuid PRIMARY KEY, -- the denpaId
    issuer          text NOT NULL,
    provider_id     text NOT NULL,
    public_id       text NOT NULL UNIQUE CHECK (public_id ~ '^op_[0-9a-f]{16}$'),
    handle          text NOT NULL UNIQUE CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
    display_name    text NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 64),
    avatar_url      text,
    operator_type   text NOT NULL DEFAULT 'human' CHECK (operator_type IN ('human', 'ai_agent', 'system_bot')),
    is_house        boolean NOT NULL DEFAULT false,
    seeded          boolean NOT NULL DEFAULT false,
    tier            text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN operator_type <> 'human' OR seeded THEN 'automated'
             WHEN is_house THEN 'house'
             ELSE 'independent' END) STORED, -- as syntax.TierOf
    crowd           boolean NOT NULL GENERATED ALWAYS AS (operator_type IN ('human', 'ai_agent')) STORED,
    session_version bigint NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    UNIQUE (issuer, provider_id)
);

-- Keys exist only as SHA-256.
CREATE TABLE operator_keys (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users (id),
    hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    prefix       text NOT NULL CHECK (prefix IN ('dk_', 'db_live_')),
    last4        text NOT NULL CHECK (char_length(last4) = 4),
    label        text NOT NULL CHECK (char_length(label) BETWEEN 1 AND 64),
    tier         text NOT NULL DEFAULT 'free' CHECK (tier IN ('free', 'builder', 'pro', 'enterprise')),
    permissions  text[] NOT NULL CHECK (permissions <@ ARRAY['read', 'signal', 'broadcast'] AND cardinality(permissions) > 0),
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX operator_keys_user ON operator_keys (user_id, created_at DESC);

CREATE TABLE audit_log (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL,
    actor   text NOT NULL,
    action  text NOT NULL,
    subject text NOT NULL,
    data    jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_subject ON audit_log (subject, id DESC);

GRANT SELECT, INSERT, UPDATE ON users, operator_keys TO api_rw;
GRANT SELECT, INSERT ON audit_log TO api_rw;
