-- The calls of an operator that wait until a venue confirms the market.
SELECT count(*) FROM unconfirmed_signals WHERE user_id = $1 AND denied_at IS NULL
