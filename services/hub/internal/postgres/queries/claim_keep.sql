-- $1 owner, $2 station, $3 identity, $4 now.
INSERT INTO identity_claims (user_id, station, identity, verified_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, station) DO UPDATE SET identity = excluded.identity, verified_at = excluded.verified_at
