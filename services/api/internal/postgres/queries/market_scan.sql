-- Markets of providers $1 with open calls and no outcome, the one checked
-- longest ago first; each is noted as checked at $2. $3 at most.
WITH picked AS MATERIALIZED (
    SELECT m.market_id, m.disputed, c.at
    FROM markets m
    LEFT JOIN market_checks c ON c.market_id = m.market_id
    WHERE m.provider = ANY ($1::text[]) AND m.status <> 'resolved'
        AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = m.market_id)
    ORDER BY c.at NULLS FIRST, m.market_id
    LIMIT $3
), noted AS (
    INSERT INTO market_checks AS c (market_id, at)
    SELECT market_id, $2 FROM picked ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at
)
SELECT market_id, disputed FROM picked ORDER BY at NULLS FIRST, market_id
