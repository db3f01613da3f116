-- The tier of an operator's keys. Each new key gets it. Administrators set it.
ALTER TABLE users ADD COLUMN key_tier text NOT NULL DEFAULT 'free' CHECK (key_tier IN ('free', 'builder', 'pro', 'enterprise'));
