-- A new operator with the rows that a claim moves. No row: handle or identity is taken.
WITH u AS (
    INSERT INTO users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT DO NOTHING
    RETURNING *
), scores AS (
    INSERT INTO operator_scores (user_id) SELECT id FROM u
), totals AS (
    INSERT INTO operator_totals (user_id, crowd) SELECT id, crowd FROM u
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address
FROM u
