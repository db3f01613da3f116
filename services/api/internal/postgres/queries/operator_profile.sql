-- Omitted members do not change; $4, $6 and $8 say which were given. $10: a human declares itself
-- an ai_agent, which changes no crowd: both types count.
WITH before AS (
    SELECT id, payout_address, operator_type FROM users WHERE id = $1 FOR UPDATE
), after AS (
    UPDATE users u SET display_name = coalesce($2, display_name), bio = coalesce($3, bio),
        avatar_url = CASE WHEN $4 THEN $5 ELSE avatar_url END,
        links = CASE WHEN $6 THEN $7::text[] ELSE links END,
        payout_address = CASE WHEN $8 THEN $9 ELSE u.payout_address END,
        operator_type = CASE WHEN $10 AND u.operator_type = 'human' THEN 'ai_agent' ELSE u.operator_type END
    FROM before b
    WHERE u.id = b.id
    RETURNING u.id, u.payout_address, u.operator_type, b.payout_address AS old_payout, b.operator_type AS old_type
)
INSERT INTO audit_log (at, actor, action, subject, data)
SELECT $11::timestamptz, id::text, 'operator.payout_changed', id::text, jsonb_build_object('from', old_payout, 'to', payout_address)
FROM after WHERE payout_address IS DISTINCT FROM old_payout
UNION ALL
SELECT $11, id::text, 'operator.declared_automated', id::text, jsonb_build_object('operatorType', operator_type)
FROM after WHERE operator_type <> old_type
