SELECT channel, slot, lane, market_id, data FROM program_starts WHERE slot = $1
