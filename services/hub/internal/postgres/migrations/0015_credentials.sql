-- A signer that was made with an operator key records it: revoking the key revokes the
-- signer.
ALTER TABLE signers ADD COLUMN key_id uuid; -- null: made through a grant
ALTER TABLE signers DROP CONSTRAINT signers_revoked_by_check;
ALTER TABLE signers ADD CONSTRAINT signers_revoked_by_check
    CHECK (revoked_by IN ('user', 'app', 'grant', 'key')) NOT VALID;
CREATE INDEX signers_of_key ON signers (key_id) WHERE key_id IS NOT NULL;

CREATE OR REPLACE FUNCTION signer_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL
        OR (NEW.public_key, NEW.denpa_id, NEW.app_id, NEW.grant_id, NEW.key_id, NEW.scopes, NEW.label, NEW.created_at, NEW.expires_at)
        IS DISTINCT FROM
        (OLD.public_key, OLD.denpa_id, OLD.app_id, OLD.grant_id, OLD.key_id, OLD.scopes, OLD.label, OLD.created_at, OLD.expires_at) THEN
        RAISE EXCEPTION 'a signer is only revoked, once' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

-- An administrator has reviewed the application.
ALTER TABLE apps ADD COLUMN trusted_at timestamptz; -- null: not reviewed
