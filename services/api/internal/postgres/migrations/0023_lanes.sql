-- The word of an admin on where a market belongs: no answer of a venue changes it.
ALTER TABLE markets ADD COLUMN lane_ruled boolean NOT NULL DEFAULT false;
