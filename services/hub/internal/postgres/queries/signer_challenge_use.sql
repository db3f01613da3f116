UPDATE signer_challenges SET used_at = $5
WHERE hash = $1 AND public_key = $2 AND denpa_id = $3 AND app_id IS NOT DISTINCT FROM nullif($4, '') AND used_at IS NULL AND expires_at > $5
