-- The oldest market whose signal.resolved rows are still to be numbered, but for
-- those in $1, which wait for their results.
SELECT market_id, after_user FROM feed_drains
WHERE market_id <> ALL ($1::text[])
ORDER BY resolved_at, market_id LIMIT 1
