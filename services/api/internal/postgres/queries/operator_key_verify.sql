-- last_used_at is written at most once a minute.
WITH used AS (
    UPDATE operator_keys SET last_used_at = $2
    WHERE hash = $1 AND revoked_at IS NULL AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute')
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address,
    k.id, k.label, k.tier, k.permissions, k.revoked_at IS NULL, k.last_used_at, k.created_at, k.prefix, k.last4, k.strict
FROM operator_keys k JOIN users u ON u.id = k.user_id
WHERE k.hash = $1 AND k.revoked_at IS NULL
