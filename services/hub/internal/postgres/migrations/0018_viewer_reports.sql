-- Whether the viewers of a minute were reported to the ledger, which counts watched time.
ALTER TABLE live_samples ADD COLUMN reported boolean NOT NULL DEFAULT false;
CREATE INDEX live_samples_unreported ON live_samples (session_id) WHERE NOT reported;
