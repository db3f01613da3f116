-- The market that is held, and the moment of what is done to it: $2, by a clock that was
-- looked at after the wait, and not before any call on it (another process may have filed
-- it by a clock that is ahead). The proposal of a native market that has run out did not
-- close its line.
SELECT m.disputed, m.lane, least(m.end_date, m.closed_at,
    CASE WHEN m.provider <> 'manual' OR m.provisional_at > n.at - interval '7 days' THEN m.provisional_at END, n.at), n.at
FROM markets m
CROSS JOIN LATERAL (
    SELECT greatest($2::timestamptz, (SELECT max(created_at) FROM signals WHERE market_id = $1)) AS at
) n
WHERE m.market_id = $1
