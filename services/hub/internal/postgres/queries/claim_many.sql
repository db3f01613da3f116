SELECT user_id, station FROM identity_claims WHERE user_id = ANY ($1::uuid[]) ORDER BY user_id, station
