-- The histories of many signals up to $2, as signal_events reads one.
SELECT e.signal_id, e.id, e.type, shown_payload(e.id, e.signal_id, e.payload)::text, e.actor, e.created_at
FROM signal_events e WHERE e.signal_id = ANY ($1::uuid[]) AND e.created_at <= $2::timestamptz
UNION ALL
SELECT r.signal_id, r.event_id, 'resolved', jsonb_build_object(
        'outcome', c.outcome, 'status', r.status, 'score', r.score, 'closePrice', r.close_price, 'clvBps', r.clv_bps,
        'resolver', c.resolver, 'source', c.source, 'proofUrl', c.proof_url,
        'scoringVersion', r.scoring_version, 'scoringVertical', r.scoring_vertical, 'scoreBasisBps', coalesce(r.basis_bps, s.score_basis_bps),
        'priceVerified', s.price_verified, 'rated', s.rated, 'counted', r.counted, 'reason', r.reason,
        'quoteAt', to_char(s.quote_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'confirmedAt', to_char(r.confirmed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text,
    coalesce(nullif(c.source, ''), c.resolver), r.resolved_at
FROM signal_results r
JOIN signals s ON s.id = r.signal_id
JOIN market_resolutions c ON c.market_id = s.market_id
WHERE r.signal_id = ANY ($1::uuid[]) AND r.resolved_at <= $2::timestamptz
ORDER BY 6, 2
