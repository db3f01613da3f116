-- What signed messages do in the ledger.

ALTER TABLE users
    ADD COLUMN bio            text CHECK (char_length(bio) <= 280),
    ADD COLUMN links          text[] NOT NULL DEFAULT '{}' CHECK (cardinality(links) <= 5),
    ADD COLUMN payout_address text CHECK (payout_address ~ '^0x[0-9a-fA-F]{40}$');

-- The messages that were done: each once, and so many of a kind in a day.
CREATE TABLE message_effects (
    message_id text PRIMARY KEY CHECK (message_id ~ '^msg_[0-9a-f]{64}$'),
    type       text NOT NULL CHECK (type IN ('profile.update', 'market.create', 'resolution.create')),
    user_id    uuid NOT NULL REFERENCES users (id),
    subject    text NOT NULL, -- the market, or the user
    at         timestamptz NOT NULL
);
CREATE INDEX message_effects_of_user ON message_effects (user_id, type, at DESC);

CREATE INDEX resolution_proposals_age ON resolution_proposals (proposed_at);

GRANT SELECT, INSERT ON message_effects TO api_rw;
GRANT UPDATE ON resolution_proposals TO api_rw;
