-- What channels begin with: a newer copy takes the place of one that still waits.
-- $1 channels, $2 data, $3 now.
WITH old AS (
    DELETE FROM outbox WHERE type = 'copy' AND topic = ANY ($1::text[])
)
INSERT INTO outbox (type, at, topic, data)
SELECT 'copy', $3, c.channel, c.data FROM unnest($1::text[], $2::text[]) AS c (channel, data)
