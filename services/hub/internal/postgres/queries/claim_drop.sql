DELETE FROM identity_claims WHERE user_id = $1 AND station = $2
