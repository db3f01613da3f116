SELECT market_id, provider, title, description, end_date, status, provisional, disputed,
    closed_at, provisional_at, final_verdict, final_at, final_payout, resolution_value, close_price,
    lane, category, slug, event_key, event_title, condition_id, clob_token_id, yes_index,
    outcome_labels, image_url, url, volume_unit, yes_bps, quoted_at,
    volume, volume_usd, volume24h, liquidity, fetched_at, created_at, updated_at,
    resolves_by, resolution_source, initial_yes_bps, created_by, yes, no, crowd_yes, crowd_no, takes, streams,
    rated_ruling, creator
FROM market_records WHERE market_id = $1
