-- The key that a webhook was made with, or last changed with. Revoking the key
-- deactivates the webhook.
ALTER TABLE webhooks ADD COLUMN key_id uuid; -- null: from before this column
CREATE INDEX webhooks_key ON webhooks (key_id) WHERE key_id IS NOT NULL;
