WITH old AS (
    DELETE FROM signer_challenges WHERE denpa_id = $3 AND expires_at <= $6
)
INSERT INTO signer_challenges (hash, public_key, denpa_id, app_id, expires_at)
VALUES ($1, $2, $3, nullif($4, ''), $5)
