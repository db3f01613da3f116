-- Who follows whom; operators are the ledger's, known by id.
CREATE TABLE follows (
    follower   uuid NOT NULL,
    followed   uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (follower, followed),
    CHECK (follower <> followed)
);
CREATE INDEX follows_followed ON follows (followed, created_at DESC);

-- Both numbers of everybody who follows or is followed.
CREATE TABLE follow_totals (
    user_id   uuid PRIMARY KEY,
    followers bigint NOT NULL DEFAULT 0 CHECK (followers >= 0),
    following bigint NOT NULL DEFAULT 0 CHECK (following >= 0)
) WITH (fillfactor = 70);

-- The two rows are taken in the order of their ids: two who follow each other at
-- the same moment wait, and never for one another.
CREATE FUNCTION count_follow() RETURNS trigger LANGUAGE plpgsql SET search_path = hub, pg_temp AS $$
DECLARE
    r follows := CASE TG_OP WHEN 'INSERT' THEN NEW ELSE OLD END;
    step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO follow_totals (user_id)
    SELECT v.id FROM (VALUES (r.follower), (r.followed)) v (id) ORDER BY v.id
    ON CONFLICT (user_id) DO NOTHING;
    PERFORM 1 FROM follow_totals WHERE user_id IN (r.follower, r.followed) ORDER BY user_id FOR UPDATE;
    UPDATE follow_totals SET
        followers = followers + CASE WHEN user_id = r.followed THEN step ELSE 0 END,
        following = following + CASE WHEN user_id = r.follower THEN step ELSE 0 END
    WHERE user_id IN (r.follower, r.followed);
    RETURN NULL;
END $$;
CREATE TRIGGER count_follow AFTER INSERT OR DELETE ON follows FOR EACH ROW EXECUTE FUNCTION count_follow();

-- Wallets that operators proved to be theirs: one for each operator and station,
-- and one operator for each wallet.
CREATE TABLE identity_claims (
    user_id     uuid NOT NULL,
    station     text NOT NULL CHECK (char_length(station) BETWEEN 1 AND 64),
    identity    text NOT NULL CHECK (char_length(identity) BETWEEN 32 AND 44),
    verified_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, station),
    CONSTRAINT identity_claims_identity UNIQUE (station, identity)
);

-- Days whose digest is sent (sent_at) or being sent.
CREATE TABLE digest_sent (
    date       date PRIMARY KEY,
    taken_at   timestamptz NOT NULL,
    sent_at    timestamptz,
    recipients integer CHECK (recipients >= 0)
);

GRANT SELECT, INSERT, DELETE ON follows TO hub_rw;
GRANT SELECT, INSERT, UPDATE ON follow_totals TO hub_rw;
GRANT SELECT, INSERT, UPDATE, DELETE ON identity_claims, digest_sent TO hub_rw;
