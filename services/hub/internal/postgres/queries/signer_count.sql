SELECT count(*) FROM signers
WHERE denpa_id = $1 AND app_id IS NOT DISTINCT FROM nullif($2, '') AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
