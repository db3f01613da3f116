-- The events of a signal: those of its owner, and the resolution, which is read from the
-- result.
SELECT e.id, e.type, shown_payload(e.id, e.signal_id, e.payload)::text, e.actor, e.created_at
FROM signal_events e WHERE e.signal_id = $1
UNION ALL
SELECT r.event_id, 'resolved', jsonb_build_object(
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
WHERE r.signal_id = $1
UNION ALL
SELECT md5('resolved ' || w.signal_id::text)::uuid, 'resolved', jsonb_build_object(
        'outcome', NULL, 'status', 'void', 'score', 0, 'closePrice', NULL, 'clvBps', NULL, 'counted', false, 'reason', 'unknown_market')::text,
    'ledger', w.denied_at
FROM unconfirmed_signals w
WHERE w.signal_id = $1 AND w.denied_at IS NOT NULL
ORDER BY 5, 1
