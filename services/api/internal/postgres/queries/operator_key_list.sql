SELECT k.id, k.label, k.tier, k.permissions, k.revoked_at IS NULL, k.last_used_at, k.created_at, k.prefix, k.last4, k.strict
FROM operator_keys k WHERE k.user_id = $1
ORDER BY k.created_at DESC, k.id DESC
