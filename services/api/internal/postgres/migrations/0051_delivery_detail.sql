-- The cause of a failed connection in words, for the owner of the webhook. Null: another error, or an attempt from before
-- this column.
ALTER TABLE webhook_deliveries ADD COLUMN detail text;
