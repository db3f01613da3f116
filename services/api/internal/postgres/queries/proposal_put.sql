-- A newer proposal takes the place of the older one, also in time: no call comes
-- between the two, so the line closes at the same price.
WITH proposal AS (
    INSERT INTO resolution_proposals (market_id, verdict, proof_url, reason, proposed_by, proposed_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (market_id) DO UPDATE SET verdict = excluded.verdict, proof_url = excluded.proof_url,
        reason = excluded.reason, proposed_by = excluded.proposed_by, proposed_at = excluded.proposed_at
)
UPDATE markets SET provisional = true, provisional_at = $6, updated_at = $6 WHERE market_id = $1
