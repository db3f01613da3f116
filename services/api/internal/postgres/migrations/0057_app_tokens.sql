-- Access tokens of apps, copied from the hub. They select the rate limit of public reads
-- and grant nothing. Rows are deleted an hour after their expiry.
CREATE TABLE app_tokens (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32), -- SHA-256 of the token
    grant_id   uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX app_tokens_of_grant ON app_tokens (grant_id);
CREATE INDEX app_tokens_expiry ON app_tokens (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON app_tokens TO api_rw;
