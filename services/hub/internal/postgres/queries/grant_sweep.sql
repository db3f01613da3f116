-- A redeemed code is kept as long as its grant lives, for its replay ends that. A
-- used refresh token is kept until it would have run out by itself.
WITH requests AS (DELETE FROM auth_requests WHERE expires_at < $1::timestamptz - interval '1 hour' RETURNING 1),
codes AS (
    DELETE FROM auth_codes c WHERE c.expires_at < $1::timestamptz - interval '1 hour'
        AND NOT (c.redeemed AND EXISTS (SELECT FROM grants g WHERE g.id = c.grant_id AND g.revoked_at IS NULL AND g.expires_at > $1))
    RETURNING 1),
access AS (DELETE FROM access_tokens WHERE expires_at < $1::timestamptz - interval '1 hour' RETURNING 1),
refresh AS (DELETE FROM refresh_tokens WHERE expires_at < $1::timestamptz - interval '1 hour' RETURNING 1)
SELECT (SELECT count(*) FROM requests) + (SELECT count(*) FROM codes) + (SELECT count(*) FROM access) + (SELECT count(*) FROM refresh)
