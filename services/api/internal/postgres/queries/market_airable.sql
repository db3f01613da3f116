-- Contract 4.6.9: open, priced at most ten minutes ago, ending more than ten
-- minutes ahead, by end date. $1 now, $2 lane or empty, $3 limit or 0.
SELECT market_id, provider, title, description, end_date, status, provisional, disputed,
    closed_at, provisional_at, final_verdict, final_at, final_payout, resolution_value, close_price,
    lane, category, slug, event_key, event_title, condition_id, clob_token_id, yes_index,
    outcome_labels, image_url, url, volume_unit, yes_bps, quoted_at,
    volume, volume_usd, volume24h, liquidity, fetched_at, created_at, updated_at,
    resolves_by, resolution_source, initial_yes_bps, created_by, yes, no, crowd_yes, crowd_no, takes, streams,
    rated_ruling, creator
FROM market_records
WHERE status = 'open' AND NOT provisional AND NOT disputed AND end_date > $1::timestamptz + interval '10 minutes'
    AND (provider = 'manual' OR yes_bps IS NOT NULL AND quoted_at >= $1::timestamptz - interval '10 minutes')
    AND ($2::text = '' OR lane = $2::text)
ORDER BY end_date, market_id
LIMIT nullif($3::integer, 0)
