-- Takes the turn of a channel. $1 channel, $2 now.
INSERT INTO live_heads AS h (channel, at) VALUES ($1, $2)
ON CONFLICT (channel) DO UPDATE SET at = greatest(excluded.at, h.at + interval '1 microsecond')
RETURNING at
