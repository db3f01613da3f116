-- Rundowns keep a day of what has run; what went on the air stays on record for eight
-- days, with what became of it.
CREATE OR REPLACE FUNCTION refuse_started() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND (OLD.slot + 1) * 610 + 86400 <= extract(epoch FROM clock_timestamp()) THEN
        RETURN OLD;
    END IF;
    IF OLD.slot * 610 <= extract(epoch FROM clock_timestamp()) THEN
        RAISE EXCEPTION 'slot % of % has started', OLD.slot, OLD.lane USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF (NEW.channel, NEW.lane, NEW.slot) <> (OLD.channel, OLD.lane, OLD.slot) THEN
        RAISE EXCEPTION 'a slot cannot be moved' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE INDEX program_slots_age ON program_slots (slot);

-- An airing outlives its slot, so a trigger asks for the slot instead of a reference.
ALTER TABLE airings
    DROP CONSTRAINT airings_channel_lane_slot_fkey,
    ADD COLUMN title          text,    -- of the market; null in rows of an older program
    ADD COLUMN yes_bps_after  integer CHECK (yes_bps_after BETWEEN 0 AND 10000), -- null: it was not known in time
    ADD COLUMN signals_during bigint CHECK (signals_during >= 0),                -- null: nobody could count them
    ADD COLUMN viewers_peak   integer NOT NULL DEFAULT 0 CHECK (viewers_peak >= 0),
    ADD COLUMN measured_at    timestamptz; -- null: its price after is waited for
CREATE INDEX airings_unmeasured ON airings (ended_at) WHERE measured_at IS NULL;
CREATE INDEX airings_moved ON airings (started_at DESC) WHERE yes_bps_start IS NOT NULL AND yes_bps_after IS NOT NULL;

CREATE FUNCTION refuse_unstored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM clock.program_slots s WHERE s.channel = NEW.channel AND s.lane = NEW.lane AND s.slot = NEW.slot) THEN
        RAISE EXCEPTION 'slot % of % was never stored', NEW.slot, NEW.lane USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stored_before_aired BEFORE INSERT ON airings FOR EACH ROW EXECUTE FUNCTION refuse_unstored();

-- What was measured stands, and nothing young is forgotten; the owner is refused as well.
CREATE FUNCTION refuse_measured() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.started_at + interval '8 days' <= clock_timestamp() THEN
            RETURN OLD;
        END IF;
    ELSIF OLD.measured_at IS NULL THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% keeps what was measured', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER no_change_of_measured BEFORE UPDATE OR DELETE ON airings FOR EACH ROW EXECUTE FUNCTION refuse_measured();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON airings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE airings ENABLE ALWAYS TRIGGER stored_before_aired;
ALTER TABLE airings ENABLE ALWAYS TRIGGER no_change_of_measured;
ALTER TABLE airings ENABLE ALWAYS TRIGGER no_truncate;

-- What airings are held against: of each slot a sample of markets that could have aired
-- and did not, with their prices at its start and, once measured, how far they moved.
CREATE TABLE baselines (
    slot        bigint PRIMARY KEY CHECK (slot > 0),
    started_at  timestamptz NOT NULL,
    markets     text[] NOT NULL,
    prices      integer[] NOT NULL, -- YES in bps, in the order of the markets
    measured_at timestamptz,
    measured    integer CHECK (measured >= 0), -- markets whose move is known and that did not air
    moved_bps   bigint CHECK (moved_bps >= 0), -- the sum of their moves, without signs
    CHECK (cardinality(markets) = cardinality(prices) AND cardinality(markets) <= 200)
);
CREATE INDEX baselines_started ON baselines (started_at DESC);
CREATE TRIGGER no_change_of_measured BEFORE UPDATE OR DELETE ON baselines FOR EACH ROW EXECUTE FUNCTION refuse_measured();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON baselines FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE baselines ENABLE ALWAYS TRIGGER no_change_of_measured;
ALTER TABLE baselines ENABLE ALWAYS TRIGGER no_truncate;

GRANT UPDATE (yes_bps_after, signals_during, viewers_peak, measured_at), DELETE ON airings TO clock_rw;
GRANT SELECT, INSERT, UPDATE (measured_at, measured, moved_bps), DELETE ON baselines TO clock_rw;
