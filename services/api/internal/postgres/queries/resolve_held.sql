-- The locked market $1, the time of what is done to it, and when it closed for calls. $2 is
-- the time of a clock that was read after the lock was granted; the time is after every call
-- on the market, because another process may have filed one by a clock that is ahead.
-- $3 is when the outcome was public, or null. The closing time is the earliest that exists:
-- native markets: the cutoff, the proposal that has not lapsed. Venue markets, unless their
-- newest answer shows them open: the first answer that did not, and the venue's own time of the
-- end, or else the newest answer that showed the market open.
SELECT m.disputed, m.lane, least(n.at, $3::timestamptz, CASE
    WHEN m.provider = 'manual' THEN
        least(m.end_date, CASE WHEN m.provisional_at > n.at - interval '7 days' THEN m.provisional_at END)
    WHEN m.status <> 'open' OR m.provisional THEN
        least(m.closed_at, m.provisional_at,
            CASE WHEN m.venue_closed_at <= n.at THEN m.venue_closed_at ELSE q.open_at END)
    END), n.at
FROM markets m
LEFT JOIN market_quotes q ON q.market_id = m.market_id
CROSS JOIN LATERAL (
    SELECT greatest($2::timestamptz, (SELECT max(created_at) + interval '1 millisecond' FROM signals WHERE market_id = $1)) AS at
) n
WHERE m.market_id = $1
