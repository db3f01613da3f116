-- Native markets, newest first, with a proposal that still waits. $1 status: open
-- is every one without an outcome. $2: only those past their cutoff and without
-- an outcome. $3 now, $4 since when a proposal is alive, $5 at most.
SELECT m.market_id, m.provider, m.title, m.description, m.end_date, m.status, m.provisional, m.disputed, m.closed_at,
    m.provisional_at, m.final_verdict, m.final_at, m.final_payout, m.resolution_value, m.close_price, m.lane, m.category,
    m.slug, m.event_key, m.event_title, m.condition_id, m.clob_token_id, m.yes_index, m.outcome_labels, m.image_url, m.url,
    m.volume_unit, m.yes_bps, m.quoted_at, m.volume, m.volume_usd, m.volume24h, m.liquidity, m.fetched_at, m.created_at,
    m.updated_at, m.resolves_by, m.resolution_source, m.initial_yes_bps, m.created_by, m.yes, m.no, m.crowd_yes, m.crowd_no,
    m.takes, m.streams, m.rated_ruling, m.creator,
    p.verdict, p.proof_url, p.proposed_at
FROM market_records m
LEFT JOIN resolution_proposals p ON p.market_id = m.market_id AND p.proposed_at > $4
WHERE m.provider = 'manual'
    AND CASE $1::text
        WHEN 'open' THEN m.status <> 'resolved'
        WHEN 'closed' THEN m.status = 'closed' OR m.status = 'open' AND m.end_date <= $3
        WHEN 'resolved' THEN m.status = 'resolved'
        ELSE true END
    AND (NOT $2::boolean OR m.status <> 'resolved' AND m.end_date <= $3)
ORDER BY m.created_at DESC, m.market_id DESC
LIMIT $5
