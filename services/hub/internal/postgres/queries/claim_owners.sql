-- Whose the wallets $2 are at the stations $1, side by side.
SELECT c.user_id, c.station, c.identity
FROM unnest($1::text[], $2::text[]) AS g (station, identity)
JOIN identity_claims c USING (station, identity)
