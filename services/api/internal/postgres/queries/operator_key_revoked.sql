-- Which of these keys are revoked or unknown.
SELECT id FROM unnest($1::uuid[]) id
WHERE NOT EXISTS (SELECT 1 FROM operator_keys k WHERE k.id = id.id AND k.revoked_at IS NULL)
