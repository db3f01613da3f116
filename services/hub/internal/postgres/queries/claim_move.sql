DELETE FROM identity_claims WHERE station = $2 AND identity = $3 AND user_id <> $1
