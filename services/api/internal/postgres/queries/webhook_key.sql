-- The key stays active until the end of the transaction: a revocation comes before and is
-- seen here, or waits and finds the webhook.
SELECT 1 FROM operator_keys WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL FOR SHARE
