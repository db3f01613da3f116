-- As market_scan, of those whose last answer or check is older than $4 when they
-- end before $3, older than $5 else, or whose final word stands since $6. $7 at
-- most: those with a standing final word first, and behind all others those that
-- never had an answer, of which there may be any number.
WITH picked AS MATERIALIZED (
    SELECT m.market_id, m.disputed, row_number() OVER (
        ORDER BY coalesce(m.final_at <= $6, false) DESC, q.at IS NULL, greatest(c.at, q.at) NULLS FIRST, m.market_id) AS place
    FROM markets m
    LEFT JOIN market_checks c ON c.market_id = m.market_id
    LEFT JOIN (SELECT market_id, coalesce(answered_at, at) AS at FROM market_quotes) q ON q.market_id = m.market_id
    WHERE m.provider = ANY ($1::text[]) AND m.status <> 'resolved' AND NOT m.disputed
        AND EXISTS (SELECT FROM market_totals t WHERE t.market_id = m.market_id)
        AND (m.final_at <= $6
            OR coalesce(greatest(c.at, q.at) <= CASE WHEN m.end_date <= $3 THEN $4::timestamptz ELSE $5::timestamptz END, true))
    ORDER BY place
    LIMIT $7
), noted AS (
    INSERT INTO market_checks AS c (market_id, at)
    SELECT market_id, $2 FROM picked ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET at = excluded.at WHERE c.at < excluded.at
)
SELECT market_id, disputed FROM picked ORDER BY place
