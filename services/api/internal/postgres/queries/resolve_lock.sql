-- $2 now. The proposal of a native market that has run out did not close its line.
SELECT disputed, lane, least(end_date, closed_at,
    CASE WHEN provider <> 'manual' OR provisional_at > $2::timestamptz - interval '7 days' THEN provisional_at END, $2)
FROM markets WHERE market_id = $1
FOR UPDATE
