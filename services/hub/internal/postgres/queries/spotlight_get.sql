SELECT version, reason, coalesce(show_id, ''), market_id, title, yes_bps, lane, coalesce(handle, ''), coalesce(hls_url, ''), viewers,
    coalesce(segment_id, ''), started_at, expires_at, chosen_at
FROM spotlight
