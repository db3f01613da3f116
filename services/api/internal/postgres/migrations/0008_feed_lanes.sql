-- The last event of a lane, and a replay of one: a lane may be silent for long.
CREATE INDEX protocol_events_lane ON protocol_events (lane, seq DESC);
