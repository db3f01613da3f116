-- Publishes the calls on confirmed markets. $1 markets with a new answer, $2 now.
SELECT publish_signals($1::text[], $2)
WHERE EXISTS (SELECT FROM unconfirmed_signals WHERE market_id = ANY ($1::text[]) AND denied_at IS NULL)
