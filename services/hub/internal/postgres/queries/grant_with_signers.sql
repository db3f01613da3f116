-- Which of the grants have signers. It runs after they are locked, and as a statement
-- of its own: so it sees a signer whose registration held the grant and committed
-- while we waited for that.
SELECT DISTINCT grant_id::text AS grant_id FROM signers WHERE grant_id = ANY ($1::uuid[]) AND revoked_at IS NULL ORDER BY 1
