-- What was left out stays; $4, $6 and $8 tell what was given.
UPDATE users SET display_name = coalesce($2, display_name), bio = coalesce($3, bio),
    avatar_url = CASE WHEN $4 THEN $5 ELSE avatar_url END,
    links = CASE WHEN $6 THEN $7::text[] ELSE links END,
    payout_address = CASE WHEN $8 THEN $9 ELSE payout_address END
WHERE id = $1
