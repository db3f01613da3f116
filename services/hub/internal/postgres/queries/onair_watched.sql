SELECT coalesce(sum(viewers), 0)::bigint, coalesce(sum(samples), 0) FROM live_samples WHERE session_id = $1
