-- Changes what an operator is. When that changes whether it counts as crowd, the
-- totals of its markets follow.
WITH before AS (
    SELECT id, crowd FROM users WHERE handle = lower($1) FOR UPDATE
), u AS (
    UPDATE users SET operator_type = coalesce($2, operator_type), is_house = coalesce($3, is_house)
    WHERE id = (SELECT id FROM before)
    RETURNING *
), step AS (
    SELECT u.id, u.crowd::integer - b.crowd::integer AS n FROM u JOIN before b ON b.id = u.id
), called AS (
    -- In the order in which filings lock these rows.
    SELECT t.market_id, s.yes, step.n
    FROM step JOIN signals s ON s.user_id = step.id JOIN market_totals t ON t.market_id = s.market_id
    WHERE step.n <> 0
    ORDER BY t.market_id
    FOR UPDATE OF t
), totals AS (
    UPDATE market_totals t SET
        crowd_yes = t.crowd_yes + CASE WHEN c.yes THEN c.n ELSE 0 END,
        crowd_no = t.crowd_no + CASE WHEN c.yes THEN 0 ELSE c.n END
    FROM called c WHERE t.market_id = c.market_id
), audited AS (
    INSERT INTO audit_log (at, actor, action, subject, data)
    SELECT $5, $4, 'operator.classified', id::text, jsonb_build_object('operatorType', operator_type, 'house', is_house) FROM u
)
SELECT u.id, u.issuer, u.provider_id, u.public_id, u.handle, u.display_name, u.avatar_url, u.operator_type, u.tier, u.session_version, u.created_at
FROM u
