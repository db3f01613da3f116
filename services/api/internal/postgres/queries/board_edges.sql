UPDATE board_rows b SET skill_calls = e.calls, edge_bps = e.edge, low_bps = e.low, high_bps = e.high
FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[]) e (user_id, lane, calls, edge, low, high)
WHERE b.user_id = e.user_id AND b.lane = e.lane
