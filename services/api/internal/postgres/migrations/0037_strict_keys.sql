-- A strict key is held to its permissions on every route; the others only where scopes
-- apply.
ALTER TABLE operator_keys ADD COLUMN strict boolean NOT NULL DEFAULT false;
