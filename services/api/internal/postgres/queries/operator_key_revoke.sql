UPDATE operator_keys k SET revoked_at = coalesce(revoked_at, $3)
WHERE id = $2 AND user_id = $1
RETURNING k.id, k.label, k.tier, k.permissions, k.revoked_at IS NULL, k.last_used_at, k.created_at, k.prefix, k.last4, k.strict
