-- How far below the market a call was scored at most, from when on: basis =
-- max(price, side - bps). Whoever reads a record works the basis out again with the
-- row that held at the call. The first row holds for what was before, too.
CREATE TABLE price_tolerances (
    since timestamptz PRIMARY KEY,
    bps   integer NOT NULL CHECK (bps BETWEEN 0 AND 10000)
);

CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON price_tolerances FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON price_tolerances FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE price_tolerances ENABLE ALWAYS TRIGGER no_change;
ALTER TABLE price_tolerances ENABLE ALWAYS TRIGGER no_truncate;

GRANT SELECT, INSERT ON price_tolerances TO api_rw;
