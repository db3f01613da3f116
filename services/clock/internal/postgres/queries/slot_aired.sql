-- Markets that stand in slots of any channel, from one slot to another.
SELECT DISTINCT market_id FROM program_slots WHERE slot BETWEEN $1 AND $2
