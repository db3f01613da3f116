-- Whose edge is to be worked out again, of those whose results the feed up to $1 tells.
INSERT INTO board_due (user_id, lane)
SELECT DISTINCT e.user_id, k.lane
FROM protocol_events e CROSS JOIN LATERAL (VALUES (''), (e.lane)) k (lane)
WHERE e.seq > (SELECT seq FROM board_state) AND e.seq <= $1 AND e.type = 'signal.resolved' AND e.user_id IS NOT NULL
ON CONFLICT DO NOTHING
