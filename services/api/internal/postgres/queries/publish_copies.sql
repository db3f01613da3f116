-- Keeps the newest copy of each channel: $1 channels, $2 times, $3 data.
INSERT INTO channel_copies AS c (channel, at, data)
SELECT DISTINCT ON (g.channel) g.channel, g.at, g.data
FROM unnest($1::text[], $2::timestamptz[], $3::jsonb[]) AS g (channel, at, data)
ORDER BY g.channel, g.at DESC
ON CONFLICT (channel) DO UPDATE SET at = excluded.at, data = excluded.data
WHERE c.at <= excluded.at
