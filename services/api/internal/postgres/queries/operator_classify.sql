-- Changes what an operator is. The last column is what its calls add to the crowd of
-- their markets by that: 1, 0 or -1.
WITH before AS (
    SELECT id, crowd FROM users WHERE handle = lower($1) FOR UPDATE
), u AS (
    UPDATE users SET operator_type = coalesce($2, operator_type), is_house = coalesce($3, is_house)
    WHERE id = (SELECT id FROM before)
    RETURNING *
), held AS (
    INSERT INTO operator_totals (user_id, crowd) SELECT id, crowd FROM u
    ON CONFLICT (user_id) DO UPDATE SET crowd = excluded.crowd
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT $5, $4, 'operator.classified', id::text, jsonb_build_object('operatorType', operator_type, 'house', is_house) FROM u
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at, u.bio, u.links, u.payout_address,
    u.crowd::integer - b.crowd::integer
FROM u JOIN before b ON b.id = u.id
