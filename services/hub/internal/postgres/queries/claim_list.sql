SELECT station, identity, verified_at FROM identity_claims WHERE user_id = $1 ORDER BY station
