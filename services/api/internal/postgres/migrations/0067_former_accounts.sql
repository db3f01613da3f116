-- The deleted accounts of the person who has an account. The public id of a deleted account is the keyed hash by which a sign-in finds
-- it. A row is deleted 400 days after the account was deleted.
CREATE TABLE former_accounts (
    user_id   uuid NOT NULL REFERENCES users (id),
    former_id uuid NOT NULL REFERENCES users (id),
    erased_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, former_id)
);
CREATE INDEX former_accounts_erased ON former_accounts (erased_at);
GRANT SELECT, INSERT, DELETE ON former_accounts TO api_rw;

-- Reports whether a deleted account of the same person has a call on a market. A deleted account files no more calls.
CREATE FUNCTION called_before(who uuid, market text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM api.former_accounts AS f
        WHERE f.user_id = who AND (
            EXISTS (SELECT FROM api.signals AS s WHERE s.market_id = market AND s.user_id = f.former_id)
            OR EXISTS (SELECT FROM api.unconfirmed_signals AS w WHERE w.market_id = market AND w.user_id = f.former_id AND w.denied_at IS NULL)));
END $$;
