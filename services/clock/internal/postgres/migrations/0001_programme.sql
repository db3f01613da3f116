-- The stored rundown and what went on the air. A slot is 610 seconds; slot k
-- starts at k * 610 seconds since 1970 and is the same for every lane.
CREATE TABLE program_slots (
    channel    text NOT NULL CHECK (channel ~ '^[a-z0-9][a-z0-9_.-]{0,63}$'),
    lane       text NOT NULL CHECK (lane ~ '^[a-z]{1,32}$'),
    slot       bigint NOT NULL CHECK (slot > 0),
    market_id  text NOT NULL CHECK (char_length(market_id) BETWEEN 1 AND 128),
    title      text NOT NULL, -- shown while the ledger is away
    event_key  text,
    market_end timestamptz,
    filled_at  timestamptz NOT NULL,
    PRIMARY KEY (channel, lane, slot)
);
CREATE INDEX program_slots_time ON program_slots (channel, slot);

-- What aired has aired. The database's own clock decides, and the owner is
-- refused as well.
CREATE FUNCTION refuse_started() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% keeps what aired', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER no_change_of_started BEFORE UPDATE OR DELETE ON program_slots FOR EACH ROW EXECUTE FUNCTION refuse_started();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON program_slots FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE program_slots ENABLE ALWAYS TRIGGER no_change_of_started;
ALTER TABLE program_slots ENABLE ALWAYS TRIGGER no_truncate;

-- One row for each content segment of a stored channel that went on the air.
CREATE TABLE airings (
    segment_id    text PRIMARY KEY,
    channel       text NOT NULL,
    lane          text NOT NULL,
    slot          bigint NOT NULL,
    market_id     text NOT NULL,
    started_at    timestamptz NOT NULL,
    ended_at      timestamptz NOT NULL,
    yes_bps_start integer CHECK (yes_bps_start BETWEEN 0 AND 10000), -- null: nobody saw the start
    FOREIGN KEY (channel, lane, slot) REFERENCES program_slots (channel, lane, slot),
    CHECK (started_at < ended_at)
);
CREATE INDEX airings_ended ON airings (ended_at DESC);
CREATE INDEX airings_slot ON airings (channel, lane, slot);

GRANT SELECT, INSERT, UPDATE, DELETE ON program_slots TO clock_rw;
GRANT SELECT, INSERT ON airings TO clock_rw;
